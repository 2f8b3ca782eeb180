/* SPDX-License-Identifier: MIT */
/*
** A host that makes one state after the other, as a server does for requests. In each of them
** leak(n) asks for n bytes that do not go with the state.
**   orphans N SCRIPT [fork]   N states run SCRIPT, one behind the other; of each fourth the
**                             bytes are freed when ten states more were made, of each fourth
**                             behind those when all are closed. With 'fork' a child goes on
**                             behind the first half, alone.
** Prints how many bytes are kept.
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#define MOST	100000

static struct {
  void *block;
  size_t n;
  int state;
} all[MOST];
static int count, state;

static __attribute__((noinline)) void *ask (size_t n) {
  return malloc(n);
}

static int leak (lua_State *L) {
  if (count == MOST) return luaL_error(L, "too many");
  all[count].n = (size_t)luaL_checkinteger(L, 1);
  all[count].block = ask(all[count].n);
  all[count].state = state;
  count++;
  return 0;
}

/* Of states up to 'before', those whose number leaves this rest. */
static void release (int before, int rest) {
  int i;
  for (i = 0; i < count; i++)
    if (all[i].state < before && all[i].state % 4 == rest) {
      free(all[i].block);
      all[i].block = NULL;
    }
}

int main (int argc, char **argv) {
  int n = atoi(argv[1]), i;
  size_t kept = 0;
  for (state = 0; state < n; state++) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_register(L, "leak", leak);
    if (luaL_dofile(L, argv[2]) != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      return 1;
    }
    lua_close(L);
    release(state - 10, 1);
    if (argc > 3 && state == n / 2 && fork() != 0) {
      wait(NULL);
      exit(0);
    }
  }
  release(n, 2);
  for (i = 0; i < count; i++)
    if (all[i].block != NULL) kept += all[i].n;
  printf("%zu\n", kept);
  return 0;
}
