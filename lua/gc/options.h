/* SPDX-License-Identifier: MIT */
/*
** Options of collectgarbage that upstream does not have. Only lbaselib.c includes this header.
**
**     collectgarbage("nursery" [, bytes])  sets the size of the nursery, the bytes of allocation
**       from one minor collection to the next; 0: the collector chooses. The environment variable
**       LUA_GC takes precedence. Returns the previous size; nil in a finalizer.
**     collectgarbage("statistics")  returns a table with counts, bytes and seconds, under the
**       names of members of luaN_Memory.
*/
#pragma once

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
      return luaL_error(L, "the size of the nursery must be 0 bytes or more, got %I", bytes);
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
