/*
** SPDX-License-Identifier: MIT
** What a bare state occupies, linked against one liblua.a:
**   bare        prints three numbers: bytes asked of lua_Alloc by lua_newstate,
**               by lua_newstate and luaL_openlibs together, and resident bytes
**               for each of many such states
** Knows only the public API, so that any Lua 5.4 can be measured.
*/
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#define STATES 200

/* lua_Alloc that counts the outstanding bytes in '*ud'. */
static void *counting (void *ud, void *block, size_t osize, size_t nsize) {
  size_t *held = ud;
  void *fresh = NULL;
  if (block == NULL) osize = 0;  /* then it is the type of an object */
  if (nsize == 0)
    free(block);
  else if ((fresh = realloc(block, nsize)) == NULL)
    return NULL;
  *held += nsize - osize;
  return fresh;
}

static lua_State *open_state (size_t *held) {
  lua_State *L = lua_newstate(counting, held);
  if (L == NULL) {
    fprintf(stderr, "bare: lua_newstate failed: not enough memory\n");
    exit(2);
  }
  return L;
}

/* Resident bytes of this process. */
static long resident (void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1) {
    fprintf(stderr, "bare: cannot read /proc/self/statm; it needs Linux\n");
    exit(2);
  }
  fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}

int main (void) {
  static lua_State *states[STATES];
  size_t held = 0, bare, open;
  long before;
  int i;
  lua_State *L = open_state(&held);
  bare = held;
  luaL_openlibs(L);
  open = held;
  before = resident();
  for (i = 0; i < STATES; i++) {
    states[i] = open_state(&held);
    luaL_openlibs(states[i]);
  }
  printf("%zu %zu %ld\n", bare, open, (resident() - before) / STATES);
  for (i = 0; i < STATES; i++)
    lua_close(states[i]);
  lua_close(L);
  if (held != 0) {
    fprintf(stderr, "bare: %zu bytes not given back by lua_close\n", held);
    return 1;
  }
  return 0;
}
