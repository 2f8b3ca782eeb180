/* SPDX-License-Identifier: MIT */
/*
** A host that executes the machine instructions of a Lua program one by one, with the trap flag of
** x86. After each instruction, the handler of SIGTRAP reads luaN_allocated and luaN_memory, as the
** profiler does if a signal ends the process. Prints the number of instructions, the bytes that the
** program has allocated, and the largest number of bytes by which one reading differed from the one
** before:
**   <instructions> <bytes> <difference>
*/
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "seam.h"

#define TRAP	0x100  /* bit of EFLAGS that makes the processor trap after each instruction */

static lua_State *L;
static volatile int stepping;
static unsigned long long n, before, most;

static void step (int signal, siginfo_t *info, void *context) {
  greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
  unsigned long long now, d;
  luaN_Memory m;
  (void)signal; (void)info;
  now = luaN_allocated(L);
  luaN_memory(L, &m);
  d = now > before ? now - before : before - now;
  if (n > 0 && d > most) most = d;
  before = now;
  n++;
  if (stepping) *flags |= TRAP;
  else *flags &= ~(greg_t)TRAP;
}

int main (void) {
  static const char program[] =
    "local rep, part, keep = string.rep, string.rep('x', 120), {} "
    "for i = 1, 75 do keep[i] = rep(part, 4) end";
  unsigned long long from;
  struct sigaction a;
  L = luaL_newstate();
  if (L == NULL) return 2;
  luaL_requiref(L, "_G", luaopen_base, 1);
  luaL_requiref(L, "string", luaopen_string, 1);
  if (luaL_loadstring(L, program) != LUA_OK) return 2;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = step;
  a.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &a, NULL);
  from = luaN_allocated(L);
  stepping = 1;
  raise(SIGTRAP);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) return 3;
  stepping = 0;
  raise(SIGTRAP);
  printf("%llu %llu %llu\n", n, luaN_allocated(L) - from, most);
  lua_close(L);
  return 0;
}
