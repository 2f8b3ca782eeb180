/* SPDX-License-Identifier: MIT */
/*
** signals: a Lua module of C functions for specs of time samples.
**
**   burn(seconds): uses CPU time in C     fill(table, n): calls lua_rawseti n times
**   leave(seconds, status): uses CPU time, then calls exit() of C without closing the Lua state
**   ending(us, how, status): sets a handler of SIGALRM that ends the process after this many
**     microseconds by "exit", "quick_exit", "_exit" or "abort"; with several threads it runs
**     on any of them
**   hookmasks(seconds): uses CPU time -> lua_gethookmask of this thread and of a new one, without
**     a call of Lua in between
**   count([hz]) -> the number of signals that this module's own handler has received since it was
**     installed. hz: installs it, for SIGPROF of a process-wide timer of CPU time; 0: for
**     SIGURG, without a timer
**   chain(): installs a handler for SIGURG that calls the previous one
**   chained() -> the number of calls of that handler
**   unchain(): sets the default action of SIGURG
**   nocount(): removes both handlers
**   disposition() -> the handler of SIGURG: "default", "count", "chain" or "other"
**   send(): sends SIGURG to this thread
**   blocked(f, ...): calls f while SIGURG is blocked
**   bothblocked(f, ...): the same with SIGURG and SIGWINCH
**   block(on): blocks or unblocks SIGURG in this OS thread
**   cpu() -> seconds of CPU time of this OS thread
**   diversions() -> luaN_diversions of this state
**   masked() -> true if the handler of SIGURG blocks SIGWINCH
**   moments([words]) -> a Moments m (asamp/sample/moments.h); addresses and counts are integers
**     m:add(count, ci, collecting, {addresses})
**     m:take() -> list of {count, ci, collecting, {addresses}}
**     m:lost() -> the number of moments lost
**   WORDS: MOMENTS_WORDS    FEW: MOMENTS_FEW
*/
#define _GNU_SOURCE
#include "moments.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#include "seam.h"

#define MOMENTSNAME	"signals.moments"

static volatile sig_atomic_t counted;
/* number of the signal that the module's own handler counts */
static int which;
static struct sigaction before;


static void counting (int signal) {
  (void)signal;
  counted++;
}


static double cpu (void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


static int l_cpu (lua_State *L) {
  lua_pushnumber(L, cpu());
  return 1;
}


static int l_diversions (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_diversions(L));
  return 1;
}


__attribute__((noinline)) static double signals_spin (long n) {
  volatile double x = 1;
  long i;
  for (i = 0; i < n; i++) x = x * 1.0000001;
  return x;
}


static int signals_burn (lua_State *L) {
  double end = cpu() + luaL_checknumber(L, 1), x = 0;
  while (cpu() < end) x += signals_spin(100000);
  lua_pushnumber(L, x);
  return 1;
}


static int l_leave (lua_State *L) {
  int status = (int)luaL_checkinteger(L, 2);
  signals_burn(L);
  exit(status);
}


static const char *endinghow;
static int endingstatus;

static void endnow (int signal) {
  (void)signal;
  if (strcmp(endinghow, "exit") == 0) exit(endingstatus);
  if (strcmp(endinghow, "quick_exit") == 0) quick_exit(endingstatus);
  if (strcmp(endinghow, "abort") == 0) abort();
  _exit(endingstatus);
}


static int l_ending (lua_State *L) {
  struct itimerval v;
  memset(&v, 0, sizeof(v));
  v.it_value.tv_sec = (time_t)(luaL_checkinteger(L, 1) / 1000000);
  v.it_value.tv_usec = (long)(luaL_checkinteger(L, 1) % 1000000);
  endinghow = strdup(luaL_checkstring(L, 2));
  endingstatus = (int)luaL_checkinteger(L, 3);
  signal(SIGALRM, endnow);
  setitimer(ITIMER_REAL, &v, NULL);
  return 0;
}


static int l_hookmasks (lua_State *L) {
  signals_burn(L);
  lua_pushinteger(L, lua_gethookmask(L));
  lua_pushinteger(L, lua_gethookmask(lua_newthread(L)));
  lua_remove(L, -2);
  return 2;
}


static int signals_fill (lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 2);
  lua_settop(L, 1);
  for (i = 0; i < n; i++) {
    lua_pushinteger(L, i);
    lua_rawseti(L, 1, i % 1000 + 1);
  }
  return 0;
}


static int l_count (lua_State *L) {
  if (!lua_isnoneornil(L, 1)) {
    long hz = (long)luaL_checkinteger(L, 1);
    struct itimerval v;
    struct sigaction a;
    memset(&a, 0, sizeof(a));
    memset(&v, 0, sizeof(v));
    a.sa_handler = counting;
    a.sa_flags = SA_RESTART;
    counted = 0;
    which = (hz > 0) ? SIGPROF : SIGURG;
    sigaction(which, &a, &before);
    if (hz > 0) v.it_interval.tv_usec = v.it_value.tv_usec = 1000000 / hz;
    setitimer(ITIMER_PROF, &v, NULL);
  }
  lua_pushinteger(L, counted);
  return 1;
}


static struct sigaction chained;
static volatile sig_atomic_t nchained;

static void chaining (int signal, siginfo_t *info, void *context) {
  nchained++;
  if (chained.sa_flags & SA_SIGINFO)
    chained.sa_sigaction(signal, info, context);
  else if (chained.sa_handler != SIG_DFL && chained.sa_handler != SIG_IGN)
    chained.sa_handler(signal);
}


static int l_chain (lua_State *L) {
  struct sigaction a;
  (void)L;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = chaining;
  a.sa_flags = SA_SIGINFO | SA_RESTART;
  nchained = 0;
  sigaction(SIGURG, NULL, &chained);
  sigaction(SIGURG, &a, NULL);
  return 0;
}


static int l_chained (lua_State *L) {
  lua_pushinteger(L, nchained);
  return 1;
}


static int l_unchain (lua_State *L) {
  (void)L;
  signal(SIGURG, SIG_DFL);
  return 0;
}


static int l_nocount (lua_State *L) {
  struct itimerval v;
  (void)L;
  memset(&v, 0, sizeof(v));
  setitimer(ITIMER_PROF, &v, NULL);
  sigaction(which, &before, NULL);
  return 0;
}


static int l_disposition (lua_State *L) {
  struct sigaction a;
  sigaction(SIGURG, NULL, &a);
  lua_pushstring(L, (a.sa_flags & SA_SIGINFO)
                    ? (a.sa_sigaction == chaining ? "chain" : "other")
                    : a.sa_handler == SIG_DFL ? "default"
                    : a.sa_handler == counting ? "count" : "other");
  return 1;
}


static int l_send (lua_State *L) {
  (void)L;
  raise(SIGURG);
  return 0;
}


static int blocked (lua_State *L, int both) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGURG);
  if (both) sigaddset(&set, SIGWINCH);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  lua_call(L, lua_gettop(L) - 1, 0);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return 0;
}


static int l_blocked (lua_State *L) {
  return blocked(L, 0);
}


static int l_bothblocked (lua_State *L) {
  return blocked(L, 1);
}


static int l_block (lua_State *L) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGURG);
  pthread_sigmask(lua_toboolean(L, 1) ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
  return 0;
}


static int l_masked (lua_State *L) {
  struct sigaction a;
  sigaction(SIGURG, NULL, &a);
  lua_pushboolean(L, sigismember(&a.sa_mask, SIGWINCH));
  return 1;
}


static int l_moments (lua_State *L) {
  size_t words = (size_t)luaL_optinteger(L, 1, (lua_Integer)MOMENTS_WORDS);
  Moments *m = lua_newuserdatauv(L, sizeof(*m), 0);
  if (!moments_open(m, words)) return luaL_error(L, "no memory");
  luaL_setmetatable(L, MOMENTSNAME);
  return 1;
}


static int m_close (lua_State *L) {
  moments_close(luaL_checkudata(L, 1, MOMENTSNAME));
  return 0;
}


static int m_add (lua_State *L) {
  Moments *m = luaL_checkudata(L, 1, MOMENTSNAME);
  void *native[1024];
  Moment e;
  memset(&e, 0, sizeof(e));
  e.count = (uint64_t)luaL_checkinteger(L, 2);
  e.ci = (void *)(uintptr_t)luaL_checkinteger(L, 3);
  e.collecting = (uint32_t)luaL_checkinteger(L, 4);
  for (; e.n < 1024 && lua_rawgeti(L, 5, e.n + 1) != LUA_TNIL; e.n++) {
    native[e.n] = (void *)(uintptr_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  moments_add(m, &e, native);
  return 0;
}


static void taken (void *ud, Moment *e) {
  lua_State *L = ud;
  uint32_t i;
  lua_createtable(L, 4, 0);
  lua_pushinteger(L, (lua_Integer)e->count);
  lua_rawseti(L, -2, 1);
  lua_pushinteger(L, (lua_Integer)(uintptr_t)e->ci);
  lua_rawseti(L, -2, 2);
  lua_pushinteger(L, e->collecting);
  lua_rawseti(L, -2, 3);
  lua_createtable(L, (int)e->n, 0);
  for (i = 0; i < e->n; i++) {
    lua_pushinteger(L, (lua_Integer)(uintptr_t)moment_native(e)[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_rawseti(L, -2, 4);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}


static int m_take (lua_State *L) {
  Moments *m = luaL_checkudata(L, 1, MOMENTSNAME);
  lua_newtable(L);
  moments_take(m, taken, L);
  return 1;
}


static int m_lost (lua_State *L) {
  Moments *m = luaL_checkudata(L, 1, MOMENTSNAME);
  lua_pushinteger(L, (lua_Integer)m->lost);
  return 1;
}


int luaopen_signals (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"burn", signals_burn}, {"leave", l_leave}, {"ending", l_ending}, {"fill", signals_fill}, {"hookmasks", l_hookmasks}, {"count", l_count},
    {"chain", l_chain}, {"chained", l_chained}, {"unchain", l_unchain}, {"nocount", l_nocount}, {"disposition", l_disposition}, {"send", l_send},
    {"blocked", l_blocked}, {"bothblocked", l_bothblocked}, {"block", l_block}, {"cpu", l_cpu}, {"diversions", l_diversions}, {"moments", l_moments},
    {"masked", l_masked}, {NULL, NULL}
  };
  static const luaL_Reg methods[] = {
    {"add", m_add}, {"take", m_take}, {"lost", m_lost}, {"__gc", m_close},
    {NULL, NULL}
  };
  luaL_newmetatable(L, MOMENTSNAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  lua_pushinteger(L, (lua_Integer)MOMENTS_WORDS);
  lua_setfield(L, -2, "WORDS");
  lua_pushinteger(L, (lua_Integer)MOMENTS_FEW);
  lua_setfield(L, -2, "FEW");
  return 1;
}
