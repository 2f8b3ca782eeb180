/*
** SPDX-License-Identifier: MIT
** Measures the time of each batch of an allocating workload. It is linked with the liblua.a to be
** measured:
**   pauses WORKLOAD MODE CLOCK RECORDS PAGE SURVIVORS BATCHES [TRAP]
**   WORKLOAD  bench/micro/churn.lua or trap.lua; it receives the numbers RECORDS, PAGE and SURVIVORS
**             and the path TRAP (or nil); its first comment explains them
**   MODE      of the collector:
**     default       as lua_newstate sets it
**     generational, incremental: selected by lua_gc
**     full          stopped; a full collection runs at the end of a batch if the heap has doubled since
**                   the previous one
**     idle          no heap and no allocation, to measure the noise of the machine
**   CLOCK     cpu: CPU time of this thread; wall: CLOCK_MONOTONIC
**   BATCHES   number of batches to measure
**
** First fills the heap and runs one full collection. Then runs the batches, and allocates nothing
** between them. Prints "live BYTES" (LUA_GCCOUNT before the batches), "peak BYTES" (the largest
** LUA_GCCOUNT before or after a batch), "total NS" and "longest NS". Then prints a histogram in ascending
** order: for each time that occurred, rounded to 1 part in 64, a line with the time in ns and the
** number of batches. It uses only the public API, so that any Lua 5.4 can be measured.
*/
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

/*
** Histogram of times: number of ranges per factor of 2. More ranges are more precise, and take
** more memory.
*/
#define FINE 64
/* number of ranges of the histogram; together they cover all 64-bit times */
#define LENGTHS (64 * FINE)

typedef struct Times {
  uint64_t total, longest;   /* nanoseconds */
  /* for each range of the histogram, the number of batches whose time is in it */
  uint64_t count[LENGTHS];
} Times;

/* Prints an error message about 'value' and ends the program. */
static void fail (const char *what, const char *value) {
  fprintf(stderr, "pauses: %s '%s'; see the head of bench/pauses.c\n", what, value);
  exit(2);
}

/*
** Parses 'text' as an integer of at least 0 and returns it. If the text is something else, prints
** the message and ends the program.
*/
static long natural (const char *what, const char *text) {
  char *end;
  long n;
  errno = 0;
  n = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || errno != 0 || n < 0) fail(what, text);
  return n;
}

/*
** Returns the index of the range that contains the time 'ns'. Each ns below 2 * FINE has a range
** of its own; above that, each factor of 2 is divided into FINE equal ranges.
*/
static size_t place (uint64_t ns) {
  unsigned octave = 0;
  while (ns >> octave >= 2 * FINE) octave++;
  return octave * FINE + (size_t)(ns >> octave);
}

/* Returns the time in the middle of range i, in ns. */
static uint64_t middle (size_t i) {
  unsigned octave = i < 2 * FINE ? 0 : (unsigned)(i / FINE) - 1;
  return ((uint64_t)(i - octave * FINE) << octave) + (((uint64_t)1 << octave) >> 1);
}

static void record (Times *times, uint64_t ns) {
  times->total += ns;
  if (ns > times->longest) times->longest = ns;
  times->count[place(ns)]++;
}

static uint64_t now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the number of bytes in use according to the collector. */
static size_t held (lua_State *L) {
  return (size_t)lua_gc(L, LUA_GCCOUNT) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB);
}

/* Calls the function at stack index 'f'. */
static void call (lua_State *L, int f) {
  lua_pushvalue(L, f);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    fprintf(stderr, "pauses: %s\n", lua_tostring(L, -1));
    exit(1);
  }
}

/*
** Runs the workload's file with the numbers and the path 'trap'. It returns the functions fill,
** batch and idle, which are then at the stack indices 1, 2 and 3.
*/
static void load_workload (lua_State *L, const char *path, char **numbers,
                           const char *trap) {
  int i;
  if (luaL_loadfile(L, path) != LUA_OK) fail("cannot load", lua_tostring(L, -1));
  for (i = 0; i < 3; i++)
    lua_pushinteger(L, natural("not a number of records:", numbers[i]));
  lua_pushstring(L, trap);
  if (lua_pcall(L, 4, 3, 0) != LUA_OK) fail("cannot start", lua_tostring(L, -1));
}

static void choose_mode (lua_State *L, const char *mode) {
  if (strcmp(mode, "generational") == 0) lua_gc(L, LUA_GCGEN, 0, 0);
  else if (strcmp(mode, "incremental") == 0) lua_gc(L, LUA_GCINC, 0, 0, 0);
  else if (strcmp(mode, "full") == 0) lua_gc(L, LUA_GCSTOP);
  else if (strcmp(mode, "default") != 0 && strcmp(mode, "idle") != 0)
    fail("MODE must be default, generational, incremental, full or idle, not", mode);
}

int main (int argc, char **argv) {
  static Times times;
  lua_State *L = luaL_newstate();
  size_t live, peak, limit, i;
  int full, idle;
  long batches;
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  if (argc != 8 && argc != 9) fail("seven or eight arguments must follow", argv[0]);
  if (L == NULL) fail("not enough memory for the Lua state of", argv[0]);
  full = strcmp(argv[2], "full") == 0;
  idle = strcmp(argv[2], "idle") == 0;
  if (strcmp(argv[3], "wall") == 0) clock = CLOCK_MONOTONIC;
  else if (strcmp(argv[3], "cpu") != 0) fail("CLOCK must be cpu or wall, not", argv[3]);
  batches = natural("not a number of batches:", argv[7]);
  luaL_openlibs(L);
  load_workload(L, argv[1], argv + 4, argv[8]);
  choose_mode(L, argv[2]);
  if (!idle) call(L, 1);
  lua_gc(L, LUA_GCCOLLECT);
  live = peak = held(L);
  limit = 2 * live;
  while (batches-- > 0) {
    size_t size;
    uint64_t start = now(clock);
    call(L, idle ? 3 : 2);
    size = held(L);
    if (full && size >= limit) {
      lua_gc(L, LUA_GCCOLLECT);
      limit = 2 * held(L);
    }
    record(&times, now(clock) - start);
    if (size > peak) peak = size;
  }
  printf("live %zu\npeak %zu\ntotal %llu\nlongest %llu\n", live, peak,
         (unsigned long long)times.total, (unsigned long long)times.longest);
  for (i = 0; i < LENGTHS; i++)
    if (times.count[i] != 0) {
      uint64_t ns = middle(i) < times.longest ? middle(i) : times.longest;
      printf("%llu %llu\n", (unsigned long long)ns, (unsigned long long)times.count[i]);
    }
  lua_close(L);
  return 0;
}
