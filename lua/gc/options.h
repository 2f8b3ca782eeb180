/* SPDX-License-Identifier: MIT */
/*
** Options of collectgarbage that upstream does not have. lbaselib.c includes this header, which
** uses only the API and the seam.
**
**   collectgarbage("nursery" [, bytes])  sets the size of the nursery: the bytes of
**     allocation from one minor collection to the next. With 0, the default, the
**     collector chooses the size. Without 'bytes', changes nothing. Returns the
**     previous setting. If LUA_GC sets the size, the program's setting has no effect.
**     In a finalizer, does nothing and returns nil, as upstream's options do.
**   collectgarbage("statistics")  returns a table with members of luaN_Memory, under
**     their names: bytes, counts, and times in seconds.
*/
#ifndef luaN_options_h
#define luaN_options_h

#include "lua.h"

#include "lauxlib.h"

#include "seam.h"

#define LUAN_GCNURSERY		0x4E00
#define LUAN_GCSTATISTICS	0x4E01

static int luaN_optnursery (lua_State *L) {
  uint64_t n = LUAN_ASK;
  if (!lua_isnoneornil(L, 2)) {
    lua_Integer bytes = luaL_checkinteger(L, 2);
    if (bytes < 0)
      return luaL_error(L, "a nursery of %I bytes; 0 or more expected", bytes);
    n = (uint64_t)bytes;
  }
  n = luaN_setnursery(L, n);
  if (n == LUAN_ASK) luaL_pushfail(L);
  else lua_pushinteger(L, (lua_Integer)n);
  return 1;
}

static int luaN_optstatistics (lua_State *L) {
  luaN_Memory m;
  luaN_memory(L, &m);
  lua_createtable(L, 0, 13);
#define BYTES(name) \
  (lua_pushinteger(L, (lua_Integer)m.name), lua_setfield(L, -2, #name))
#define SECONDS(name) \
  (lua_pushnumber(L, (lua_Number)m.name / 1e9), lua_setfield(L, -2, #name))
  BYTES(inuse);
  BYTES(held);
  BYTES(outside);
  BYTES(allocated);
  BYTES(tenured);
  BYTES(nursery);
  BYTES(minors);
  BYTES(majors);
  BYTES(work);
  BYTES(mostwork);
  SECONDS(pause);
  SECONDS(longest);
  SECONDS(pauses);
#undef BYTES
#undef SECONDS
  return 1;
}

#endif
