/* SPDX-License-Identifier: MIT */
/*
** A host program that creates and closes a Lua state for each line that it reads from the file
** "words", a FIFO. If the line is "collect", the state completes a full collection; otherwise it
** runs no complete collection. The first state needs no line. After closing it, the program
** creates the file "idle".
*/
#include <stdio.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

static void serve (const char *line) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return;
  if (strcmp(line, "collect\n") == 0) lua_gc(L, LUA_GCCOLLECT);
  lua_close(L);
}


int main (void) {
  char line[256];
  FILE *words = fopen("words", "r+"), *idle;
  serve("");
  idle = fopen("idle", "w");
  if (words == NULL || idle == NULL) return 1;
  fclose(idle);
  while (fgets(line, sizeof(line), words) != NULL) serve(line);
  fclose(words);
  return 0;
}
