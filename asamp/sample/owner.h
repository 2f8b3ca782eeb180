/* SPDX-License-Identifier: MIT */
/*
** Assigns native frames to Lua states: on one C stack several states may run, one inside the
** other, if a C function of one state runs another state. In a walk of the C stack the bytecode
** loops of all states look alike. A state is entered by a protected call (lua_pcall,
** lua_resume), which the OS thread records (luaN_protected of seam.h). So a loop belongs to the
** state of the next protected call outside it.
**
**   OW1  nothing is read from the C stack except protected calls that lie on the stack of this
**        OS thread, outside the given starting address;
**   OW2  frames of a state that is entered without a protected call, inside another state, are
**        assigned to that other state.
**
** All functions except owner_prime are async-signal-safe. Addresses are return addresses,
** innermost first.
*/
#ifndef asamp_owner_h
#define asamp_owner_h

#include <stddef.h>

#include "lua.h"

#include "seam.h"

/*
** Determines where this OS thread's stack ends. Allocates. To be called on a thread before the
** other functions of this file.
*/
void owner_prime (void);

/* Returns the end (outermost address) of the stack; NULL: unknown. */
const char *owner_stackend (void);

/*
** Returns the unused bytes of this OS thread's stack, at lower addresses than 'sp'; 0 if 'sp' is on
** another stack (a signal stack or a C coroutine's), or if the stack is unknown. Requires
** owner_prime.
*/
size_t owner_room (const void *sp);

/* Returns 1 if protected calls of other states than that of L run on this thread's C stack. */
int owner_mixed (lua_State *L);

/*
** Marks those of the n native frames of this thread that are bytecode loops of other states, and
** removes the frames that resume coroutines of other states. Returns the number of frames left.
** 'whole': the frames reach to the end of the stack. 'sp': the stack pointer at the innermost
** frame or inside it.
*/
int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole);

/*
** Writes the states that run on this thread, as their main threads, innermost first, at most 'max',
** and returns their number. A state that is entered again inside another state is written again.
** 'sp' as in owner_mark.
*/
unsigned owner_states (const void *sp, const void **states, unsigned max);

/* Returns the address of a marked frame; NULL if the frame is not marked. */
static inline const char *owner_marked (const void *a) {
  uintptr_t bit = (uintptr_t)1 << 63;  /* set in no user-space address */
  return ((uintptr_t)a & bit) ? (const char *)((uintptr_t)a & ~bit) : NULL;
}

/* Returns 1 if the instruction at 'ip' is in that part of the core. */
static inline int owner_isin (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}

#endif
