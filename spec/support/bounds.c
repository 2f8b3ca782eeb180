/* SPDX-License-Identifier: MIT */
/*
** bounds: a Lua module that returns the end of the C stack of this OS thread.
**
**   stackend() -> the highest address of the stack, twice: according to the profiler
**   (asamp/sample/owner.h) and according to the C library
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>

#include <lua.h>
#include <lauxlib.h>

#include "owner.h"

static int l_stackend (lua_State *L) {
  pthread_attr_t a;
  void *base = NULL;
  size_t size = 0;
  owner_prime();
  if (pthread_getattr_np(pthread_self(), &a) != 0) return luaL_error(L, "no attributes");
  pthread_attr_getstack(&a, &base, &size);
  pthread_attr_destroy(&a);
  lua_pushinteger(L, (lua_Integer)(uintptr_t)owner_stackend());
  lua_pushinteger(L, (lua_Integer)((uintptr_t)base + size));
  return 2;
}

int luaopen_bounds (lua_State *L);

int luaopen_bounds (lua_State *L) {
  static const luaL_Reg functions[] = {{"stackend", l_stackend}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
