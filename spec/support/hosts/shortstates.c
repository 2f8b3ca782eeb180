/* SPDX-License-Identifier: MIT */
/*
** shortstates N MS OUTSIDE: a host program that creates N Lua states, one after the other. It
** uses MS milliseconds of CPU time in each state, closes it, and then uses OUTSIDE milliseconds
** without a state. It prints the milliseconds of CPU time during which a state existed.
*/
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lua.h>
#include <lauxlib.h>

static double cpu (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}


static volatile double sink;

static int work (lua_State *L) {
  double end = cpu() + lua_tonumber(L, 1);
  while (cpu() < end) sink += 1;
  return 0;
}


int main (int argc, char **argv) {
  int i, n = atoi(argv[1]);
  double inside = 0, end;
  (void)argc;
  for (i = 0; i < n; i++) {
    lua_State *L = luaL_newstate();
    double from = cpu();
    lua_pushcfunction(L, work);
    lua_pushnumber(L, atof(argv[2]));
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) return 1;
    inside += cpu() - from;
    lua_close(L);
    end = cpu() + atof(argv[3]);
    while (cpu() < end) sink += 1;
  }
  printf("%.1f\n", inside);
  return 0;
}
