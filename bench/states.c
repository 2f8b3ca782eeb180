/*
** SPDX-License-Identifier: MIT
** Measures the costs of a host program with many small states, for bench/states. It is linked
** with the liblua.a to be measured:
**   states idle N       creates N states with libraries; prints the resident bytes per state
**   states busy N       the same, but each state has run a script that keeps about 20 KiB and drops
**                       half a MiB
**   states least        prints the smallest limits in which three things succeed: lua_newstate; also
**                       to open the libraries; also to run a small script (to 64 bytes)
**   states rows LIMIT   runs a script that keeps as many rows as the limit permits; prints their number
**   states loop LIMIT   runs a script that creates only garbage; prints how many requests lua_Alloc
**                       has refused, and whether the script succeeded
**   states cycle N      creates and closes N states with libraries, one after the other; prints the
**                       nanoseconds of CPU time per state
**   states requests N   the same, but each state runs a script that keeps about 12 MiB until its end;
**                       also prints by how much the resident bytes have grown after the last state
**   states threads N    creates N states like those of 'busy' in 8 threads; prints by how much the
**                       resident bytes grow, and the milliseconds of wall time
** A limit is the largest number of bytes that a state may have obtained from lua_Alloc. The
** program uses only the public API, so that any Lua 5.4 can be measured.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#define THREADS 8

/* The script of a request handler. It keeps about 20 KiB, and drops half a MiB. */
static const char BUSY[] =
  "local kept = {}\n"
  "for i = 1, 100 do kept[i] = {id = i, name = 'name ' .. i} end\n"
  "_G.kept = kept\n"
  "local sum = 0\n"
  "for i = 1, 4000 do\n"
  "  local t = {id = i, text = 'text ' .. i}\n"
  "  sum = sum + #t.text\n"
  "  if i % 40 == 0 then kept[i // 40] = t end\n"
  "end\n"
  "return sum";

/* The script of a plugin: functions, a class, strings, a sort. */
static const char SMALL[] =
  "local Account = {}\n"
  "Account.__index = Account\n"
  "function Account.new(name, n) return setmetatable({name = name, n = n}, Account) end\n"
  "function Account:deposit(n) self.n = self.n + n; return self end\n"
  "local all = {}\n"
  "for i = 1, 50 do all[i] = Account.new(('account %03d'):format(i), i):deposit(i * 7 % 13) end\n"
  "table.sort(all, function(a, b) return a.n < b.n end)\n"
  "local out = {}\n"
  "for i, a in ipairs(all) do out[i] = a.name .. '=' .. a.n end\n"
  "local text = table.concat(out, ',')\n"
  "local found = 0\n"
  "for w in text:gmatch('%d+=') do found = found + #w end\n"
  "return found";

/* A script that creates rows until memory is exhausted, and returns their number. */
static const char ROWS[] =
  "local rows, n = {}, 0\n"
  "pcall(function() while true do rows[n + 1] = {id = n, name = 'row ' .. n}; n = n + 1 end end)\n"
  "rows = nil\n"
  "return n";

/* A script that creates tables and strings, and keeps none. */
static const char LOOP[] =
  "local sum = 0\n"
  "for i = 1, 200000 do local t = {i, 'text ' .. i}; sum = sum + #t end\n"
  "return sum";

/*
** The script of a large request. It creates objects, strings and an array, all alive until it
** ends.
*/
static const char REQUEST[] =
  "local rows, texts, numbers = {}, {}, {}\n"
  "for i = 1, 40000 do rows[i] = {id = i, next = rows[i - 1]} end\n"
  "for i = 1, 1000 do texts[i] = ('text'):rep(500) .. i end\n"
  "for i = 1, 200000 do numbers[i] = i end\n"
  "return #rows + #texts + #numbers";

typedef struct Limit {
  /* bytes obtained from lua_Alloc and not freed; their limit */
  size_t held, limit;
  unsigned long refused;  /* number of refused requests */
} Limit;

/* A lua_Alloc that returns NULL when the bytes in use would exceed the limit. 'ud' is the Limit. */
static void *limited (void *ud, void *block, size_t osize, size_t nsize) {
  Limit *l = ud;
  void *fresh = NULL;
  /* lua_Alloc: if 'block' is NULL, osize is the type of the new object, not a size */
  if (block == NULL) osize = 0;
  if (nsize > osize && nsize - osize > l->limit - l->held) {
    l->refused++;
    return NULL;
  }
  if (nsize == 0) free(block);
  else if ((fresh = realloc(block, nsize)) == NULL) return NULL;
  l->held += nsize - osize;
  return fresh;
}

static void fail (const char *message) {
  fprintf(stderr, "states: %s\n", message);
  exit(2);
}

/* Returns the resident bytes of this process. */
static long resident (void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1)
    fail("cannot read /proc/self/statm; this program needs Linux");
  fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}

/* Returns the time of the given clock in nanoseconds. */
static double now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int openlibs (lua_State *L) {
  luaL_openlibs(L);
  return 0;
}

/*
** Opens the libraries and runs 'script' (NULL: no script), both in protected mode. Returns the
** status of lua_pcall.
*/
static int play (lua_State *L, const char *script) {
  int status;
  lua_pushcfunction(L, openlibs);
  status = lua_pcall(L, 0, 0, 0);
  if (status == LUA_OK && script != NULL) {
    status = luaL_loadstring(L, script);
    if (status == LUA_OK) status = lua_pcall(L, 0, 1, 0);
  }
  return status;
}

/* Returns a new state that has run 'script'. Ends the program if that fails. */
static lua_State *must (const char *script) {
  lua_State *L = luaL_newstate();
  if (L == NULL || play(L, script) != LUA_OK) fail("cannot create a Lua state, or its script failed");
  lua_settop(L, 0);
  return L;
}

/*
** Creates a state with a memory limit in bytes. Depending on the action, it then does more: 0,
** nothing; 1, opens the libraries; 2, opens them and runs a small script. Returns 1 if all of it
** succeeds.
*/
static int fits (size_t limit, int what) {
  Limit l = {0, limit, 0};
  lua_State *L = lua_newstate(limited, &l);
  int good = (L != NULL);
  if (good && what > 0) good = (play(L, what > 1 ? SMALL : NULL) == LUA_OK);
  if (L != NULL) lua_close(L);
  if (l.held != 0) fail("lua_close has not freed all memory");
  return good;
}

/*
** Returns the smallest limit in bytes, at most 1 MiB, in which an action of fits() succeeds. The
** result may be up to 63 bytes too large.
*/
static size_t least (int what) {
  size_t low = 0, high = 1 << 20;
  while (high - low > 64) {
    size_t middle = low + (high - low) / 2;
    if (fits(middle, what)) high = middle;
    else low = middle;
  }
  return high;
}

/*
** Runs a script in a new state with a limit of 'limit' bytes. Returns the integer that the script
** returns, or -1 if it fails. Stores the number of requests that lua_Alloc refused in *refused,
** if it is not NULL.
*/
static long inlimit (size_t limit, const char *script, unsigned long *refused) {
  Limit l = {0, limit, 0};
  lua_State *L = lua_newstate(limited, &l);
  long result;
  if (L == NULL) return -1;
  result = (play(L, script) == LUA_OK) ? (long)lua_tointeger(L, -1) : -1;
  lua_close(L);
  if (refused != NULL) *refused = l.refused;
  return result;
}

/* The body of a thread: creates *ud states that have run BUSY, and returns an array of them. */
static void *manystates (void *ud) {
  int i, n = *(int *)ud;
  lua_State **all = malloc((size_t)n * sizeof(*all));
  for (i = 0; i < n; i++) all[i] = must(BUSY);
  return all;
}

/* The action 'threads': creates n states in THREADS threads. */
static void threads (int n) {
  pthread_t t[THREADS];
  void *all[THREADS];
  int i, j, each = n / THREADS;
  long before = resident();
  double start = now(CLOCK_MONOTONIC), made;
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&t[i], NULL, manystates, &each) != 0) fail("no thread");
  for (i = 0; i < THREADS; i++) pthread_join(t[i], &all[i]);
  made = now(CLOCK_MONOTONIC);
  printf("%ld %.0f\n", resident() - before, (made - start) / 1e6);
  for (i = 0; i < THREADS; i++) {
    for (j = 0; j < each; j++) lua_close(((lua_State **)all[i])[j]);
    free(all[i]);
  }
}

/* The actions 'idle' and 'busy': creates n states that have run 'script'. */
static void many (int n, const char *script) {
  lua_State **all = malloc((size_t)n * sizeof(*all));
  long before;
  int i;
  lua_close(must(script));
  before = resident();
  for (i = 0; i < n; i++) all[i] = must(script);
  printf("%ld\n", (resident() - before) / n);
  for (i = 0; i < n; i++) lua_close(all[i]);
  free(all);
}

/* Creates and closes n states, one after the other. Returns the CPU nanoseconds per state. */
static double cycle (long n, const char *script) {
  double start = now(CLOCK_PROCESS_CPUTIME_ID);
  long i;
  for (i = 0; i < n; i++) lua_close(must(script));
  return (now(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)n;
}

int main (int argc, char **argv) {
  const char *what = (argc > 1) ? argv[1] : "";
  long n = (argc > 2) ? atol(argv[2]) : 0;
  unsigned long refused = 0;
  if (strcmp(what, "least") == 0)
    printf("%zu %zu %zu\n", least(0), least(1), least(2));
  else if (n <= 0)
    fail("give a measurement and a number; see the head of bench/states.c");
  else if (strcmp(what, "idle") == 0) many((int)n, NULL);
  else if (strcmp(what, "busy") == 0) many((int)n, BUSY);
  else if (strcmp(what, "threads") == 0) threads((int)n);
  else if (strcmp(what, "rows") == 0)
    printf("%ld\n", inlimit((size_t)n, ROWS, NULL));
  else if (strcmp(what, "loop") == 0) {
    long sum = inlimit((size_t)n, LOOP, &refused);
    printf("%lu %s\n", refused, sum < 0 ? "failed" : "ok");
  }
  else if (strcmp(what, "cycle") == 0) {
    cycle(100, NULL);
    printf("%.0f\n", cycle(n, NULL));
  }
  else if (strcmp(what, "requests") == 0) {
    long before = resident();
    double each = cycle(n, REQUEST);
    printf("%.0f %ld\n", each, resident() - before);
  }
  else fail("unknown measurement; use idle, busy, least, rows, loop, cycle, requests or threads");
  return 0;
}
