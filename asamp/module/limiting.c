/* SPDX-License-Identifier: MIT */
/* Implements profiler.limit (limiting.h). The limits are in a userdata on the stack of l_limit. In
   nested calls, the smaller limit of each kind applies. The user's function cannot yield: l_limit
   calls it with lua_pcall, in order to restore the outer limits after an error. */
#include "limiting.h"

#include <string.h>

/* Number of values below the user's function on the stack of l_limit: the two limits, the userdata,
   two messages, and argument 1 of l_limit. */
#define BELOW	6

/* Does nothing. l_limit calls this function before it sets the limits, so that the call frame of
   the user's function is allocated already. */
static int limiting_nothing (lua_State *L) {
  (void)L;
  return 0;
}

/* Pushes and returns the text that represents the value at 'index' in a message: the string or
   number, or the name of its type. */
static const char *shown (lua_State *L, int index) {
  const char *text;
  lua_pushvalue(L, index);
  text = lua_tolstring(L, -1, NULL);
  return (text != NULL) ? text : lua_typename(L, lua_type(L, -1));
}

/* Pushes the two limits that argument 1 gives, each an integer or nil: the limit of allocated
   bytes, then that of live bytes. Raises an error if argument 1 is invalid. */
static void pushlimits (lua_State *L) {
  int i, given = 0;
  if (lua_type(L, 1) != LUA_TTABLE) {
    lua_pushvalue(L, 1);
    lua_pushnil(L);
  }
  else {
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1), given = 1) {
      const char *key = shown(L, -2);
      if (strcmp(key, "allocated") != 0 && strcmp(key, "alive") != 0)
        luaL_argerror(
          L, 1, lua_pushfstring(L, "unknown limit \"%s\" (known: alive, allocated)", key));
      lua_pop(L, 1);
    }
    if (!given) luaL_argerror(L, 1, "a table of limits must have the field 'allocated' or 'alive'");
    lua_getfield(L, 1, "allocated");
    lua_getfield(L, 1, "alive");
  }
  for (i = -2; i < 0; i++) {
    int isinteger;
    lua_Integer n = lua_tointegerx(L, i, &isinteger);
    if (lua_type(L, i) == LUA_TNIL && lua_type(L, 1) == LUA_TTABLE) continue;
    if (lua_type(L, i) == LUA_TNIL && i == -1) continue;
    if (!isinteger || lua_type(L, i) != LUA_TNUMBER)
      luaL_argerror(
          L, 1, lua_pushfstring(L, "a limit must be a whole number of bytes, or a table "
                                   "{allocated = bytes, alive = bytes}, got %s", shown(L, i)));
    if (n < 0)
      luaL_argerror(
          L, 1, lua_pushfstring(L, "a limit must be at least 0 bytes, got %I", (LUAI_UACINT)n));
  }
}

/* Lowers *limit to n + 'used', and sets *why to the message at the stack index 'message'. n is the
   integer at the stack index 'index'. Does nothing if the value at 'index' is nil, or if *limit is
   at most n + 'used'. */
static void lower (lua_State *L, int index, int message, uint64_t used, uint64_t *limit,
                   const void **why) {
  uint64_t n = (uint64_t)lua_tointegerx(L, index, NULL) + used;
  if (lua_type(L, index) == LUA_TNIL || n < used || n >= *limit) return;
  *limit = n;
  *why = lua_topointer(L, message);
}

/* limit(bytes, f, ...) or limit({allocated = bytes, alive = bytes}, f, ...) -> results of f. Calls
   f(...) with a limit of allocated bytes ('bytes' alone sets this one), of live bytes, or both.
   Raises the errors of f. After l_limit has set the limits, it allocates nothing itself. */
static int l_limit (lua_State *L) {
  const luaN_Limits *outer = luaN_getlimits(L);
  luaN_Memory m;
  luaN_Limits *own;
  int type = lua_type(L, 2), status;
  if (type != LUA_TFUNCTION && type != LUA_TTABLE && type != LUA_TUSERDATA)
    luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checkstack(L, 2 * LUA_MINSTACK, NULL);
  pushlimits(L);
  own = lua_newuserdatauv(L, sizeof(*own), 0);
  lua_pushfstring(L, "allocation limit of %I bytes exceeded",
                  (LUAI_UACINT)lua_tointegerx(L, -3, NULL));
  lua_pushfstring(L, "limit of %I live bytes exceeded", (LUAI_UACINT)lua_tointegerx(L, -3, NULL));
  lua_rotate(L, 1, BELOW - 1);
  lua_pushcfunction(L, limiting_nothing);
  lua_callk(L, 0, 0, 0, NULL);
  if (outer != NULL) *own = *outer;
  else {
    memset(own, 0, sizeof(*own));
    own->allocated = own->inuse = own->buffers = UINT64_MAX;
  }
  lower(L, 1, 4, luaN_allocated(L), &own->allocated, &own->whyallocated);
  lower(L, 2, 5, 0, &own->inuse, &own->whyinuse);
  luaN_memory(L, &m);
  lower(L, 1, 4, m.buffers, &own->buffers, &own->whybuffers);
  lower(L, 2, 5, 0, &own->buffers, &own->whybuffers);
  luaN_setlimits(L, own);
  status = lua_pcallk(L, lua_gettop(L) - BELOW - 1, LUA_MULTRET, 0, 0, NULL);
  luaN_setlimits(L, outer);
  return (status == LUA_OK) ? lua_gettop(L) - BELOW : lua_error(L);
}

void limiting_open (lua_State *L) {
  lua_pushcfunction(L, l_limit);
  lua_setfield(L, -2, "limit");
}
