/*
** SPDX-License-Identifier: MIT
** Measures the memory of an unused Lua state, for bench/bare. It is linked with the liblua.a to
** be measured. Prints three numbers: the bytes obtained from lua_Alloc after lua_newstate, those
** after luaL_openlibs, and the resident bytes per state of STATES more states with libraries.
** Uses only the public API, so that any Lua 5.4 can be measured.
*/
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#define STATES 200

/* A lua_Alloc that counts the bytes in use in '*ud'. */
static void *counting (void *ud, void *block, size_t osize, size_t nsize) {
  size_t *held = ud;
  void *fresh = NULL;
  /* If 'block' is NULL, osize is the type of the new object, not a size. */
  if (block == NULL) osize = 0;
  if (nsize == 0)
    free(block);
  else if ((fresh = realloc(block, nsize)) == NULL)
    return NULL;
  *held += nsize - osize;
  return fresh;
}

/* Returns a new state without libraries, whose lua_Alloc counts the bytes in use in *held. */
static lua_State *open_state (size_t *held) {
  lua_State *L = lua_newstate(counting, held);
  if (L == NULL) {
    fprintf(stderr, "bare: lua_newstate failed: not enough memory\n");
    exit(2);
  }
  return L;
}

/* Returns the resident bytes of this process. */
static long resident (void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1) {
    fprintf(stderr, "bare: cannot read /proc/self/statm; this program needs Linux\n");
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
    fprintf(stderr, "bare: lua_close has not freed %zu bytes\n", held);
    return 1;
  }
  return 0;
}
