/* SPDX-License-Identifier: MIT */
/*
** walking: a library for LD_PRELOAD, which is also loaded as a Lua module. A walk of the C stack
** by libunwind does not return until release() is called, if it requests more than one frame.
** clock_gettime returns times of CLOCK_REALTIME that are one hour too late. So a wait until a
** time of this clock lasts one hour longer, as if the clock had been set back.
**
**   started() -> true if such a walk has started
**   release()
*/
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

static volatile int started, released;

int clock_gettime (clockid_t clock, struct timespec *t) {
  int result = (int)syscall(SYS_clock_gettime, clock, t);
  if (result == 0 && clock == CLOCK_REALTIME) t->tv_sec += 3600;
  return result;
}

int unw_backtrace (void **to, int max);

int unw_backtrace (void **to, int max) {
  const struct timespec nap = {0, 1000000};
  (void)to;
  if (max > 1) started = 1;
  while (started && !released) nanosleep(&nap, NULL);
  return 0;
}

static int l_started (lua_State *L) {
  lua_pushboolean(L, started);
  return 1;
}

static int l_release (lua_State *L) {
  (void)L;
  released = 1;
  return 0;
}

int luaopen_walking (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"started", l_started}, {"release", l_release}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
