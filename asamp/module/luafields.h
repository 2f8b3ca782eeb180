/* SPDX-License-Identifier: MIT */
/*
** Helpers of the C modules in this folder: they set fields of the table on top of the stack, read
** fields of the table at index 1, and push the results of failed calls.
**
** Each file with a luaopen_ function is a module for Lua code: corelib.c is profiler.core,
** readerlib.c profiler.reader, convertlib.c profiler.convert, heaplib.c profiler.heap, hostlib.c
** asamp.host, httplib.c asamp.http. These modules convert arguments and results, and call functions
** of other folders for the work. Wrong arguments raise errors; failures of the system return nil,
** message.
**
** The C function of the Lua function NAME is l_NAME, FILE_NAME or NAME_lua. Its comment has the
** signature in Lua.
*/
#ifndef asamp_luafields_h
#define asamp_luafields_h

#include <stdint.h>

#include "binding.h"
#include "readerleft.h"

/* Sets the field 'key' of the table on top of the stack. May raise a memory error. */
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

/* Like setinteger, for a text. NULL sets the field to nil. */
static inline void setstring (lua_State *L, const char *key,
                              const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

/* Pushes nil and a message. Returns 2. */
static inline int pushfailure (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  return 2;
}

/* Pushes nil, a message and the errno 'error'. Returns 3. */
static inline int pushfailed (lua_State *L, const char *message, int error) {
  pushfailure(L, message);
  lua_pushinteger(L, error);
  return 3;
}

/* Returns the integer in the field 'key' of the table at index 1; 0 if it is not an integer. */
static inline lua_Integer getinteger (lua_State *L, const char *key) {
  lua_Integer n;
  lua_getfield(L, 1, key);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

/* Returns 1 if the field 'key' of the table at index 1 is true. */
static inline int getboolean (lua_State *L, const char *key) {
  int b;
  lua_getfield(L, 1, key);
  b = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return b;
}

/* Sets the field 'left' of the table on top of the stack: a list with a table for each limit that
   has dropped data (readerleft.h). */
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
