/* SPDX-License-Identifier: MIT */
/*
** Whose frames they are: C stacks on which several Lua states run, one inside
** the other, as a host's C function does that runs another state. To a walk of
** the C stack the bytecode loops of all states look alike. A state is entered
** by a protected call (lua_pcall, lua_resume), which tells the OS thread
** (luaN_protected of seam.h): so a loop belongs to the state whose protected
** call is the next one outside of it.
**
**   OW1  nothing is read from the C stack but protected calls that lie on the
**        stack of this OS thread, outside of where it is told to begin;
**   OW2  a state that is entered without a protected call, inside of another, is
**        taken for that one.
**
** All functions may be called in a signal handler, but owner_prime. Addresses
** are return addresses, innermost first.
*/
#ifndef asamp_owner_h
#define asamp_owner_h

#include <stddef.h>

#include "lua.h"

#include "seam.h"

/* Learns where this OS thread's stack ends; allocates. To be called before. */
void owner_prime (void);

/* The end that was learned; NULL: it is not known. */
const char *owner_stackend (void);

/* Bytes of this OS thread's stack that lie inside of 'sp'; 0: it is on another one (a
   signal's, a coroutine's of C), or that is not known. After owner_prime. */
size_t owner_room (const void *sp);

/* Are there other states than that of L on this thread's C stack? */
int owner_mixed (lua_State *L);

/*
** Of the n native frames of this thread those in other states' bytecode loops
** are marked, and those in their coroutines are left out. Returns how many there
** are then. 'whole': they are all there are. 'sp': the stack pointer at the innermost
** of them, or inside.
*/
int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole);

/*
** The states that run on this thread, as their main threads, innermost first: writes
** 'max' at most and returns how many. 'sp' as in owner_mark.
*/
unsigned owner_states (const void *sp, const void **states, unsigned max);

/* Of a marked frame the address, else NULL. */
static inline const char *owner_marked (const void *a) {
  uintptr_t bit = (uintptr_t)1 << 63;  /* of no address of a program */
  return ((uintptr_t)a & bit) ? (const char *)((uintptr_t)a & ~bit) : NULL;
}

/* Is the instruction at 'ip' in that part of the core? */
static inline int owner_isin (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}

#endif
