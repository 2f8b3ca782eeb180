/* SPDX-License-Identifier: MIT */
/*
** readings: a library for LD_PRELOAD, which is also loaded as a Lua module. Its clock_gettime counts
** the readings of clocks of CPU time.
**
**   count() -> number of readings so far
**   processor() -> luaN_processor, and then the thread's CPU time; both in ns
**   collected() -> number of the state's minor collections, and CLOCK_MONOTONIC in ns
*/
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>
#include <seam.h>

static long count;

int clock_gettime (clockid_t clock, struct timespec *t) {
  if (clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID)
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  return (int)syscall(SYS_clock_gettime, clock, t);
}

static uint64_t ns (clockid_t clock) {
  struct timespec t = {0, 0};
  syscall(SYS_clock_gettime, clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int r_count (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)__atomic_load_n(&count, __ATOMIC_RELAXED));
  return 1;
}

static int r_processor (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_processor(ns(CLOCK_MONOTONIC)));
  lua_pushinteger(L, (lua_Integer)ns(CLOCK_THREAD_CPUTIME_ID));
  return 2;
}

static int r_collected (lua_State *L) {
  luaN_Memory m;
  luaN_memory(L, &m);
  lua_pushinteger(L, (lua_Integer)m.minors);
  lua_pushinteger(L, (lua_Integer)ns(CLOCK_MONOTONIC));
  return 2;
}

int luaopen_readings (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"count", r_count}, {"processor", r_processor}, {"collected", r_collected}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
