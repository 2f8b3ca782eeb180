/* SPDX-License-Identifier: MIT */
/*
** backwards: a library for LD_PRELOAD, which is also loaded as a Lua module. Its function
** jump(seconds) sets all clocks back: clock_gettime then returns times that are this many seconds
** too early.
*/
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

static volatile long long back;  /* nanoseconds by which all clocks are set back */

int clock_gettime (clockid_t clock, struct timespec *t) {
  int result = (int)syscall(SYS_clock_gettime, clock, t);
  if (result == 0) {
    long long ns = t->tv_sec * 1000000000LL + t->tv_nsec - back;
    t->tv_nsec = (ns % 1000000000 + 1000000000) % 1000000000;
    t->tv_sec = (ns - t->tv_nsec) / 1000000000;
  }
  return result;
}

static int jump (lua_State *L) {
  back = (long long)(luaL_checknumber(L, 1) * 1e9);
  return 0;
}

int luaopen_backwards (lua_State *L) {
  lua_pushcfunction(L, jump);
  return 1;
}
