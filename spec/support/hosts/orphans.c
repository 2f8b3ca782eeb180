/* SPDX-License-Identifier: MIT */
/*
** A host program that creates one state after the other, as a server does for requests. In each of them
** leak(n) allocates n bytes that outlive the state.
**   orphans N SCRIPT [fork]   N states run SCRIPT, one after the other. Of every four states, the bytes
**                             of the second are freed after eleven more states were closed, those of
**                             the third when all states are closed, and the others never. With 'fork', a
**                             child process continues alone after the first half.
** It prints the number of bytes that are not freed.
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

static __attribute__((noinline)) void *take (size_t n) {
  return malloc(n);
}

static int leak (lua_State *L) {
  if (count == MOST) return luaL_error(L, "too many");
  all[count].n = (size_t)luaL_checkinteger(L, 1);
  all[count].block = take(all[count].n);
  all[count].state = state;
  count++;
  return 0;
}

/* Frees the bytes of the states whose number is below 'before' and is 'rest' modulo 4. */
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
