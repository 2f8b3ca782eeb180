/* SPDX-License-Identifier: MIT */
/*
** Helpers of the Lua modules: set fields of the table on top of the stack, read fields of the
** argument table at index 1, and push the results of failed calls.
*/
#ifndef asamp_luafields_h
#define asamp_luafields_h

#include <stdint.h>

#include "binding.h"
#include "readerleft.h"

static inline void setinteger (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

static inline void setnumber (lua_State *L, const char *key, double n) {
  lua_pushnumber(L, n);
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

/*
** Pushes nil and the message, and returns the number of results. pushfailed also pushes an
** errno.
*/
static inline int pushfailure (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  return 2;
}

static inline int pushfailed (lua_State *L, const char *message, int error) {
  pushfailure(L, message);
  lua_pushinteger(L, error);
  return 3;
}

static inline lua_Integer getinteger (lua_State *L, const char *key) {
  lua_Integer n;
  lua_getfield(L, 1, key);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

static inline int getboolean (lua_State *L, const char *key) {
  int b;
  lua_getfield(L, 1, key);
  b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/*
** Sets the field 'left' of the table on top: a list of {what, limit, count, text}, one entry
** for each limit that dropped data.
*/
static inline void pushleft (lua_State *L, const uint64_t counts[LEFT_N]) {
  lua_Integer n = 0;
  int what;
  lua_newtable(L);
  for (what = 0; what < LEFT_N; what++) {
    char text[READERLEFT_TEXT];
    if (counts[what] == 0)
      continue;
    readerleft_text((ReadLeft)what, counts[what], text);
    lua_createtable(L, 0, 4);
    setstring(L, "what", readerleft_key((ReadLeft)what));
    setinteger(L, "limit", readerleft_limit((ReadLeft)what));
    setinteger(L, "count", counts[what]);
    setstring(L, "text", text);
    lua_rawseti(L, -2, ++n);
  }
  lua_setfield(L, -2, "left");
}

#endif
