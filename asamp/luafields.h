/* SPDX-License-Identifier: MIT */
/*
** Fields of the table on the top of the stack, for the modules of the reader
** and the converters.
*/
#ifndef asamp_luafields_h
#define asamp_luafields_h

#include <stdint.h>

#include <lua.h>

static inline void setinteger (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static inline void setboolean (lua_State *L, const char *key, int b) {
  lua_pushboolean(L, b);
  lua_setfield(L, -2, key);
}

static inline void setstring (lua_State *L, const char *key,
                              const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

#endif
