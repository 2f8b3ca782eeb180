/* SPDX-License-Identifier: MIT */
/*
** refusing MILLIONTHS SEED FILE ARGUMENT...: runs the Lua program FILE while random memory
** requests are refused: MILLIONTHS of a million. Requests are refused only in functions that the
** program passes to the global function 'try'; such a function may fail for lack of memory. After
** any other failure, or if bytes are allocated after lua_close, the exit status is 1.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

static struct {
  uint64_t random;
  unsigned millionths;
  int armed;
  size_t held;
} memory;

/* Marsaglia's xorshift64. */
static unsigned draw (void) {
  memory.random ^= memory.random << 13;
  memory.random ^= memory.random >> 7;
  memory.random ^= memory.random << 17;
  return (unsigned)(memory.random >> 33) % 1000000;
}

static void *allocate (void *ud, void *block, size_t old, size_t size) {
  void *fresh = NULL;
  (void)ud;
  if (block == NULL) old = 0;  /* for a new block, Lua passes the kind of object as old size */
  if (size > old && memory.armed && draw() < memory.millionths) return NULL;
  if (size == 0) free(block);
  else if ((fresh = realloc(block, size)) == NULL) return NULL;
  memory.held += size - old;
  return fresh;
}

/* try(f) calls f and returns true if f ended without a memory error */
static int try (lua_State *L) {
  int status;
  lua_settop(L, 1);
  memory.armed = 1;
  status = lua_pcall(L, 0, 0, 0);
  memory.armed = 0;
  if (status != LUA_OK && status != LUA_ERRMEM) lua_error(L);
  lua_pushboolean(L, status == LUA_OK);
  return 1;
}

int main (int argc, char **argv) {
  lua_State *L;
  int i;
  if (argc < 4) return 2;
  memory.millionths = (unsigned)atoi(argv[1]);
  memory.random = UINT64_C(0x9E3779B97F4A7C15) * ((unsigned)atoi(argv[2]) + 1u);
  if ((L = lua_newstate(allocate, NULL)) == NULL) return 2;
  luaL_openlibs(L);
  lua_register(L, "try", try);
  lua_createtable(L, argc - 4, 0);
  for (i = 4; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 3);
  }
  lua_setglobal(L, "arg");
  if (luaL_dofile(L, argv[3]) != LUA_OK) {
    fprintf(stderr, "refusing: %s\n", lua_tostring(L, -1));
    return 1;
  }
  lua_close(L);
  if (memory.held != 0) fprintf(stderr, "refusing: lua_close leaves %zu bytes\n", memory.held);
  return memory.held != 0;
}
