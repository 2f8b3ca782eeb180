/* SPDX-License-Identifier: MIT */
/*
** This folder has the C modules that Lua code loads, the C interface asamp.h, and the command. Each
** file with a luaopen_ function is a module; the comment at its start documents the module's
** functions.
**
**   corelib.c      profiler.core: the sampler; with embed.h (asamp.h), counting.h, limiting.h and
**                  snapshotlib.h
**   readerlib.c    profiler.reader: profiles as tables; with repairlib.c
**   convertlib.c   profiler.convert: profiles in other formats
**   heaplib.c      profiler.heap: snapshots of heaps
**   hostlib.c      asamp.host: system functions; httplib.c, asamp.http: a server
**   ownmalloc.c    counts the memory of the library; asamp.sh: the command
**
** A module converts arguments and results; the other folders do the work. A function of a module
** raises a Lua error for a wrong argument, and returns nil and a message for a failure of the
** system or of a file. Each luaopen_ function starts with binding_open (binding.h). The C function
** of the Lua function NAME is l_NAME, FILE_NAME or NAME_lua.
**
** This file has the helpers of the modules: they set fields of the table on top of the stack, read
** fields of the argument table at index 1, and push the results of failed calls.
*/
#ifndef asamp_luafields_h
#define asamp_luafields_h

#include <stdint.h>

#include "binding.h"
#include "readerleft.h"

/* The setters set the field 'key' of the table on top of the stack. They may raise a memory
   error. */
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

/* Sets the field to nil if 'text' is NULL. */
static inline void setstring (lua_State *L, const char *key,
                              const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

/*
** Push the results of a failed call, and return their number. The results are nil and the message;
** pushfailed adds an errno.
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

/* The getters return the field 'key' of the table at index 1. getinteger returns 0 if the field
   does not convert to an integer, getboolean returns 0 if it is nil or false. */
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
** Sets the field 'left' of the table on top to a list of {what, limit, count, text} (readerleft.h),
** with one entry for each limit that dropped data.
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
