/* SPDX-License-Identifier: MIT */
/*
** loader: a Lua module with code that competes for the dynamic loader's lock.
**
**   find(seconds): queries the loader's list of object files repeatedly for this much CPU time of
**     this OS thread; returns the number of queries
**   wait(seconds): uses this much CPU time while another OS thread holds the loader's lock, and lets
**     that thread release it only afterwards
*/
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <lua.h>
#include <lauxlib.h>

/* 1: the other thread has locked the dynamic loader; 2: it may release the lock */
static volatile int state;


static double cpu (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


static int first (struct dl_phdr_info *info, size_t size, void *ud) {
  (void)info; (void)size; (void)ud;
  return 1;
}


static int loader_find (lua_State *L) {
  double end = cpu() + luaL_checknumber(L, 1);
  lua_Integer n = 0;
  while (cpu() < end) {
    int i;
    for (i = 0; i < 1000; i++) dl_iterate_phdr(first, NULL);
    n += i;
  }
  lua_pushinteger(L, n);
  return 1;
}


static int stay (struct dl_phdr_info *info, size_t size, void *ud) {
  (void)info; (void)size; (void)ud;
  state = 1;
  while (state == 1) sched_yield();
  return 1;
}


static void *other (void *ud) {
  dl_iterate_phdr(stay, NULL);
  return ud;
}


__attribute__((noinline)) static double loader_burn (double seconds) {
  double end = cpu() + seconds;
  volatile double x = 1;
  while (cpu() < end) {
    long i;
    for (i = 0; i < 10000; i++) x = x * 1.0000001;
  }
  return x;
}


static int loader_wait (lua_State *L) {
  double seconds = luaL_checknumber(L, 1);
  pthread_t thread;
  state = 0;
  if (pthread_create(&thread, NULL, other, NULL) != 0)
    return luaL_error(L, "no thread");
  while (state == 0) sched_yield();
  lua_pushnumber(L, loader_burn(seconds));
  state = 2;
  pthread_join(thread, NULL);
  return 1;
}


int luaopen_loader (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"find", loader_find}, {"wait", loader_wait}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
