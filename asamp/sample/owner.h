/* SPDX-License-Identifier: MIT */
/*
** Assigns native frames to Lua states. Several states may run on one C stack, one inside the other,
** if a C function of one state runs another state. In a walk of the C stack the bytecode loops of
** all states have the same return addresses. But each state is entered by a protected call
** (lua_pcall, lua_resume), which the OS thread records (luaN_protected of seam.h). So a loop
** belongs to the state of the next protected call outside it.
**
**   OW1  the only data read from the C stack are the records of protected calls. A record is read
**        only if it lies on the stack of this OS thread, at a higher address than 'sp' and than the
**        previous record;
**   OW2  if a state is entered without a protected call inside another state, its frames are
**        assigned to that other state.
**
** All functions except owner_prime are async-signal-safe. Addresses are return addresses, innermost
** first.
*/
#ifndef asamp_owner_h
#define asamp_owner_h

#include <stddef.h>

#include "lua.h"

#include "seam.h"

/*
** Determines the address range of this OS thread's stack. Allocates. Call it on a thread before
** the other functions of this file.
*/
void owner_prime (void);

/* Returns the end (highest address) of this OS thread's stack; NULL: unknown. */
const char *owner_stackend (void);

/* Returns how many bytes of this OS thread's stack are unused, from 'sp' down to the lowest
   address. Returns 0 if the stack is unknown, or if 'sp' is on another stack (of a signal or a C
   coroutine). Call owner_prime first. */
size_t owner_room (const void *sp);

/* Returns 1 if protected calls of other states than that of L run on this thread's C stack. */
int owner_mixed (lua_State *L);

/*
** Marks those of the n native frames in 'a' that are bytecode loops of other states than L's, and
** removes the frames in which other states resume coroutines. Returns the number of frames left.
** 'whole': the frames reach to the end of the stack. 'sp': a stack address inside the innermost
** frame.
*/
int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole);

/* Stores the states that run on this thread in 'states', at most 'max', innermost first, as their
   main threads, and returns their number. A state that is entered again inside another state is
   stored again. 'sp' is as for owner_mark. */
unsigned owner_states (const void *sp, const void **states, unsigned max);

/* If owner_mark has marked the frame, returns its return address; else NULL. */
static inline const char *owner_marked (const void *a) {
  uintptr_t bit = (uintptr_t)1 << 63;  /* this bit is 0 in all addresses of user space */
  return ((uintptr_t)a & bit) ? (const char *)((uintptr_t)a & ~bit) : NULL;
}

/* Returns 1 if the instruction at 'ip' is in the part r of the core's code. */
static inline int owner_isin (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}

#endif
