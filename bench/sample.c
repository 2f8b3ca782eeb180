/* SPDX-License-Identifier: MIT */
/*
** Measures the cost of an allocation sample in the thread of the program, for bench/sample:
**   sample SHAPE LUADEPTH CDEPTH NATIVE SAMPLES PERIOD
** The program makes CDEPTH nested C calls, inside them LUADEPTH nested Lua calls, and there
** creates SAMPLES tables of 104 bytes. It prints the nanoseconds of CPU time per table in this
** thread. The profiler's writer runs on another thread.
**   PERIOD    0: no table is sampled; 64: each table is
**   NATIVE    1: stacks include C functions
**   SHAPE     how the stack changes between two samples:
**     same       only the innermost function changes
**     new        all Lua calls are made again for every table
**     coroutine  like 'same', but the innermost function runs in a coroutine, so that the profiler must
**                read the whole stack for each sample
**
** With the shape 'followed', the program instead creates SAMPLES strings and keeps them. With
** PERIOD 64 each string is a sample whose survival the profiler follows. Then it runs full
** collections, and prints the nanoseconds of one divided by SAMPLES.
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static const char source[] =
  "local measured, shape, depth, n = ...\n"
  "local function make(n) for _ = 1, n do local t = {1, 2, 3, 4} end end\n"
  "local function down(d, f)\n"
  "  if d > 0 then return (down(d - 1, f)) end\n"
  "  return f(1)\n"
  "end\n"
  "local function again(n) for _ = 1, n do down(depth - 4, make) end end\n"
  "local function run(f)\n"
  /* the first call fills the caches of names, lines and libunwind */
  "  f(1000)\n"
  "  return measured(f, n)\n"
  "end\n"
  "if shape == 'followed' then\n"
  "  local live, times = {}, 20\n"
  "  for i = 1, n do live[i] = string.rep('x', 200) end\n"
  "  collectgarbage()\n"
  "  return measured(function(k) for _ = 1, k do collectgarbage() end end, times) / #live\n"
  "end\n"
  "if shape == 'new' then return run(again) end\n"
  "return down(depth - 3, function()\n"
  "  if shape == 'same' then return run(make) end\n"
  "  return coroutine.wrap(run)(make)\n"
  "end)\n";

static const char profiler[] =
  "local out, native, period = ...\n"
  "local core = require 'profiler.core'\n"
  "assert(core.open{out = out, native = native, compress = false, period = period})\n"
  "core.on(period, false)\n";

/* Returns the CPU time of this thread in nanoseconds. */
static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The Lua function measured(f, n): calls f(n), and returns its CPU time in ns divided by n. */
static int measured (lua_State *L) {
  lua_Integer n = lua_tointeger(L, 2);
  double start = now();
  lua_call(L, 1, 0);
  lua_pushnumber(L, (now() - start) / (double)n);
  return 1;
}

/*
** Calls the Lua function on the stack, with its 4 arguments, inside 'depth' nested C calls.
** 'volatile' prevents the compiler from replacing the recursion by a loop.
*/
static __attribute__((noinline)) int down (lua_State *L, int depth) {
  volatile int below;
  if (depth == 0) return lua_pcall(L, 4, 1, 0);
  below = down(L, depth - 1);
  return below;
}

int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  int status;
  if (argc != 7 || L == NULL) return 2;
  luaL_openlibs(L);
  if (atoi(argv[6]) > 0) {
    if (luaL_loadstring(L, profiler) != LUA_OK) goto failed;
    lua_pushliteral(L, "/dev/null");
    lua_pushboolean(L, atoi(argv[4]));
    lua_pushinteger(L, atoi(argv[6]));
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) goto failed;
  }
  if (luaL_loadstring(L, source) != LUA_OK) goto failed;
  lua_pushcfunction(L, measured);
  lua_pushstring(L, argv[1]);
  lua_pushinteger(L, atoi(argv[2]));
  lua_pushinteger(L, atoi(argv[5]));
  status = down(L, atoi(argv[3]));
  if (status != LUA_OK) goto failed;
  printf("%.3f\n", lua_tonumber(L, -1));
  lua_close(L);
  return 0;
failed:
  fprintf(stderr, "sample: %s\n", lua_tostring(L, -1));
  return 1;
}
