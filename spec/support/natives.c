/* SPDX-License-Identifier: MIT */
/*
** natives: a Lua module of C functions with known names, for specs of stacks and sizes. Most
** functions call a separate static function, which then allocates or calls f, so that the names
** of both must be found. "a > b" means that a calls b.
**
**   through(f, ...)        native_through > native_call > f
**   through_callk(f, ...)  native_callk > f; may yield, native_after continues
**   through_pcallk(f, ...) native_pcallk > f; the same
**   yieldk(g, ...)         yields; native_resumed calls g(...) when resumed
**   resume(co, ...)        native_resume > co; returns its results
**   ref(v) -> n            luaL_ref into the registry, never released
**   deep(n, f)             native_deep n times > f
**   hook()                 native_hook allocates 1,000 bytes of userdata at the next
**                          line, once
**   table(narray, nhash)   native_table > native_newtable
**   userdata(n, nuvalues)  closure(nupvalues)  string(n)
**                          one block each: native_userdata and so on
**   untouched(n)           a userdata whose contents are not written
**   buffer(n)              a string of n bytes by luaL_Buffer
**   outside(u, n)          reports that the userdata owns n external bytes: native_outside
*/
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

#include <seam.h>

#define NOINLINE	__attribute__((noinline))

static NOINLINE int native_call (lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static NOINLINE int native_through (lua_State *L) {
  int n = native_call(L);
  return n + 0 * lua_gettop(L);
}

static NOINLINE int native_after (lua_State *L, int status, lua_KContext from) {
  if (status == LUA_OK || status == LUA_YIELD)
    return lua_gettop(L) - (int)from;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

static NOINLINE int native_callk (lua_State *L) {
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, native_after);
  return native_after(L, LUA_OK, 0);
}

static NOINLINE int native_pcallk (lua_State *L) {
  int status = lua_pcallk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, 0, native_after);
  return native_after(L, status, 0);
}

static NOINLINE int native_resumed (lua_State *L, int status, lua_KContext n) {
  (void)status;
  lua_settop(L, (int)n);
  return native_call(L);
}

static NOINLINE int native_yieldk (lua_State *L) {
  return lua_yieldk(L, 0, lua_gettop(L), native_resumed);
}

static NOINLINE int native_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int n = 0, status;
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  lua_xmove(L, co, lua_gettop(L) - 1);
  status = lua_resume(co, L, lua_gettop(co) - (lua_status(co) == LUA_OK), &n);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return lua_error(L);
  }
  luaL_checkstack(L, n, "too many results");
  lua_xmove(co, L, n);
  return n;
}

static NOINLINE int native_deep (lua_State *L, lua_Integer n) {
  if (n > 1) return native_deep(L, n - 1) + 0 * lua_gettop(L);
  lua_pushvalue(L, 2);
  lua_call(L, 0, 0);
  return 0;
}

static int native_ref (lua_State *L) {
  lua_settop(L, 1);
  lua_pushinteger(L, luaL_ref(L, LUA_REGISTRYINDEX));
  return 1;
}

static int l_deep (lua_State *L) {
  int n = native_deep(L, luaL_checkinteger(L, 1));
  return n + 0 * lua_gettop(L);
}

static NOINLINE void native_hook (lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  lua_newuserdatauv(L, 1000, 0);
  lua_pop(L, 1);
}

static int l_hook (lua_State *L) {
  lua_sethook(L, native_hook, LUA_MASKLINE, 0);
  return 0;
}

static NOINLINE void native_newtable (lua_State *L) {
  lua_createtable(L, (int)luaL_checkinteger(L, 1), (int)luaL_checkinteger(L, 2));
}

static NOINLINE int native_table (lua_State *L) {
  native_newtable(L);
  return 1;
}

static NOINLINE int native_userdata (lua_State *L) {
  memset(lua_newuserdatauv(L, (size_t)luaL_checkinteger(L, 1),
                           (int)luaL_optinteger(L, 2, 0)),
         0, (size_t)lua_tointeger(L, 1));
  return 1;
}

static int native_untouched (lua_State *L) {
  lua_newuserdatauv(L, (size_t)luaL_checkinteger(L, 1), 0);
  return 1;
}

static NOINLINE int native_outside (lua_State *L) {
  luaN_outside(L, 1, (size_t)luaL_checkinteger(L, 2));
  lua_settop(L, 1);
  return 1;
}

static NOINLINE int native_string (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  char *text = malloc(n + 1);
  if (text == NULL) return luaL_error(L, "no memory for %I bytes", (LUAI_UACINT)n);
  memset(text, 's', n);
  text[n] = '\0';
  lua_pushlstring(L, text, n);
  free(text);
  return 1;
}

static NOINLINE int native_closure (lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1), i;
  luaL_checkstack(L, n, "too many upvalues");
  for (i = 0; i < n; i++) lua_pushinteger(L, i);
  lua_pushcclosure(L, native_table, n);
  return 1;
}

static NOINLINE int native_buffer (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1), i;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++) luaL_addchar(&b, 'b');
  luaL_pushresult(&b);
  return 1;
}

int luaopen_natives (lua_State *L);

int luaopen_natives (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"through", native_through}, {"through_callk", native_callk},
    {"through_pcallk", native_pcallk}, {"yieldk", native_yieldk},
    {"resume", native_resume}, {"deep", l_deep}, {"hook", l_hook}, {"table", native_table},
    {"userdata", native_userdata}, {"untouched", native_untouched},
    {"closure", native_closure}, {"string", native_string},
    {"outside", native_outside}, {"ref", native_ref},
    {"buffer", native_buffer}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
