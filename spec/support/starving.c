/* SPDX-License-Identifier: MIT */
/*
** starving: a Lua module with a copy of profiler.core in which memory requests fail when a spec wants
** it: the requests of its files, including strdup, but not those of libraries. Only requests of the
** OS thread that called starve fail; the writer thread always has enough memory (see profilegen.c).
**
**   starve(n [, k])  n more requests succeed, the next k fail (without k: all others), then
**                    they succeed again; negative n: all succeed
**   requests()       -> the number of requests, and of failed ones, since starve was called
**   core             the copy of profiler.core
*/
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

#include "wrapped.h"

static __thread long plenty = -1, failures, requests, failed;

static int starving (void) {
  requests++;
  if (plenty < 0 || requests <= plenty || failed == failures) return 0;
  failed++;
  errno = ENOMEM;
  return 1;
}

char *__real_strdup (const char *s);
char *__wrap_strdup (const char *s);

char *__wrap_strdup (const char *s) {
  return starving() ? NULL : __real_strdup(s);
}

static int l_starve (lua_State *L) {
  plenty = (long)luaL_checkinteger(L, 1);
  failures = (long)luaL_optinteger(L, 2, -1);
  requests = failed = 0;
  return 0;
}

static int l_requests (lua_State *L) {
  lua_pushinteger(L, requests);
  lua_pushinteger(L, failed);
  return 2;
}

int luaopen_profiler_core (lua_State *L);
int luaopen_starving (lua_State *L);

int luaopen_starving (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"starve", l_starve}, {"requests", l_requests}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  lua_pushcfunction(L, luaopen_profiler_core);
  lua_call(L, 0, 1);
  lua_setfield(L, -2, "core");
  return 1;
}
