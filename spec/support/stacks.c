/* SPDX-License-Identifier: MIT */
/*
** stacks: a Lua module with C stacks of any size, and signal stacks, for specs.
**
**   small(n, f, ...)   calls f(...) on a C stack of n bytes (makecontext) with a guard page
**                      below it
**   alternate(n)       gives this OS thread an alternate signal stack of n bytes, owned by the
**                      program (0: none). nil: restores the previous one, which may be a
**                      sanitizer's
**   stack() -> the size of this thread's alternate signal stack (nil: there is none), true if it is
**                      the program's, and its lowest address
**   touched() -> bytes of the program's signal stack that have been written
**   below() -> bytes that have been written in the 16 KiB below the program's signal stack
**   frame() -> the largest size of a signal frame according to the system
**   flags() -> true if the handler of SIGURG runs on the alternate stack
**   alarms(ns)         sends SIGUSR1 each ns nanoseconds of this thread's CPU time, with a handler
**                      that uses 4 KiB of the alternate stack; nil: stops the signals
**   alarmed() -> the number of calls of this handler
**   mapped(address) -> true if memory is mapped there
*/
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#define PAINT	0xA5
#define GUARD	4096
#define BELOW	16384

static __thread unsigned char *own;	/* BELOW bytes, and the program's signal stack */
static __thread size_t ownsize;
static __thread stack_t before;
static __thread ucontext_t here, there;
static __thread lua_State *caller;


__attribute__((noinline)) static void stacks_entry (void) {
  lua_call(caller, lua_gettop(caller) - 1, 0);
}


/*
** small(n, f, ...). f must not raise an error, because a longjmp from this stack is not possible.
*/
static int stacks_small (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1), whole = (n + 4095) / 4096 * 4096 + GUARD;
  char *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return luaL_error(L, "no stack");
  mprotect(map, GUARD, PROT_NONE);
  lua_remove(L, 1);
  caller = L;
  getcontext(&there);
  there.uc_stack.ss_sp = map + whole - n;
  there.uc_stack.ss_size = n;
  there.uc_link = &here;
  makecontext(&there, stacks_entry, 0);
  swapcontext(&here, &there);
  munmap(map, whole);
  return 0;
}


static int l_alternate (lua_State *L) {
  stack_t s;
  memset(&s, 0, sizeof(s));
  if (lua_isnoneornil(L, 1)) s = before;
  else {
    ownsize = (size_t)luaL_checkinteger(L, 1);
    own = realloc(own, BELOW + ownsize);
    memset(own, PAINT, BELOW + ownsize);
    s.ss_sp = own + BELOW;
    s.ss_size = ownsize;
    if (ownsize == 0) s.ss_flags = SS_DISABLE;
  }
  if (sigaltstack(&s, lua_isnoneornil(L, 1) ? NULL : &before) != 0)
    return luaL_error(L, "sigaltstack");
  if (lua_isnoneornil(L, 1)) {
    free(own);
    own = NULL;
    ownsize = 0;
  }
  return 0;
}


static int l_stack (lua_State *L) {
  stack_t s;
  sigaltstack(NULL, &s);
  if (s.ss_flags & SS_DISABLE) return 0;
  lua_pushinteger(L, (lua_Integer)s.ss_size);
  lua_pushboolean(L, s.ss_sp == own + BELOW);
  lua_pushinteger(L, (lua_Integer)(size_t)s.ss_sp);
  return 3;
}


static int l_touched (lua_State *L) {
  size_t i = 0;
  while (i < ownsize && own[BELOW + i] == PAINT) i++;
  lua_pushinteger(L, (lua_Integer)(ownsize - i));
  return 1;
}


static int l_below (lua_State *L) {
  lua_Integer n = 0;
  int i;
  for (i = 0; i < BELOW; i++) n += (own[i] != PAINT);
  lua_pushinteger(L, n);
  return 1;
}


static int l_frame (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)getauxval(51));  /* AT_MINSIGSTKSZ */
  return 1;
}


static int l_flags (lua_State *L) {
  struct sigaction a;
  sigaction(SIGURG, NULL, &a);
  lua_pushboolean(L, (a.sa_flags & SA_ONSTACK) != 0);
  return 1;
}


static volatile long nalarms;

static void alarming (int signal) {
  volatile char *room = alloca(4096);
  int i;
  (void)signal;
  for (i = 0; i < 4096; i += 64) room[i] = (char)i;
  nalarms++;
}


static int l_alarms (lua_State *L) {
  static timer_t timer;
  struct sigaction a;
  struct sigevent e;
  struct itimerspec s;
  if (lua_isnoneornil(L, 1)) {
    timer_delete(timer);
    return 0;
  }
  memset(&a, 0, sizeof(a));
  memset(&e, 0, sizeof(e));
  memset(&s, 0, sizeof(s));
  a.sa_handler = alarming;
  a.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR1, &a, NULL);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = SIGUSR1;
  e._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  nalarms = 0;
  timer_create(CLOCK_MONOTONIC, &e, &timer);
  s.it_interval.tv_nsec = s.it_value.tv_nsec = (long)luaL_checkinteger(L, 1);
  timer_settime(timer, 0, &s, NULL);
  return 0;
}


static int l_alarmed (lua_State *L) {
  lua_pushinteger(L, nalarms);
  return 1;
}


static int l_mapped (lua_State *L) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), at = (size_t)luaL_checkinteger(L, 1);
  unsigned char resident;
  /* mincore fails if the page is not mapped */
  lua_pushboolean(L, mincore((void *)(at & ~(page - 1)), 1, &resident) == 0);
  return 1;
}


int luaopen_stacks (lua_State *L);

int luaopen_stacks (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"small", stacks_small}, {"alternate", l_alternate}, {"stack", l_stack},
    {"touched", l_touched}, {"below", l_below}, {"frame", l_frame}, {"flags", l_flags}, {"alarms", l_alarms},
    {"alarmed", l_alarmed}, {"mapped", l_mapped}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
