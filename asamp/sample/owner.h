/* SPDX-License-Identifier: MIT */
/*
** Assigns native frames to Lua states, for C stacks on which several states run, one inside the
** other. A return address in a bytecode loop (luaV_execute) does not show whose loop it is. But
** each state is entered by a protected call (lua_pcall, lua_resume), and the Lua core has a list of
** the running protected calls of each OS thread (luaN_protected). So a bytecode loop belongs to the
** state of the next protected call outside it.
**
**   OW1  a record of a protected call is read only if it lies on this OS thread's stack, at a
**        higher address than 'sp' and than the record read before;
**   OW2  the frames of a state that was entered without a protected call are assigned to the state
**        that runs outside it.
**
** All functions except owner_prime are async-signal-safe. Frames are return addresses, innermost
** first.
*/
#ifndef asamp_owner_h
#define asamp_owner_h

#include <stddef.h>

#include "lua.h"

#include "seam.h"

/* Finds the bounds of this OS thread's stack, for the functions below. Allocates. */
void owner_prime (void);

/* Returns the highest address of this OS thread's stack; NULL: unknown. */
const char *owner_stackend (void);

/* Returns the unused bytes of this OS thread's stack below 'sp'; 0 if 'sp' is on another stack. */
size_t owner_room (const void *sp);

/* Returns 1 if a protected call of another state than L's runs on this OS thread. */
int owner_mixed (lua_State *L);

/* Marks in the array 'a' of n frames each bytecode loop (luaV_execute) of another state than L's,
   and removes each lua_resume of such a state. Returns the number of frames left.
   sp     an address in the innermost frame
   whole  1: the last frame of 'a' is the outermost one of the stack */
int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole);

/* Stores the main threads of the Lua states that run on this OS thread, innermost first, at most
   'max'. Returns their number. A state is stored twice if another state runs between two of its
   calls. 'sp': an address in the innermost frame. */
unsigned owner_states (const void *sp, const void **states, unsigned max);

/* Returns the return address of a frame that owner_mark has marked, else NULL. */
static inline const char *owner_marked (const void *a) {
  uintptr_t bit = (uintptr_t)1 << 63;  /* 0 in all addresses of user space */
  return ((uintptr_t)a & bit) ? (const char *)((uintptr_t)a & ~bit) : NULL;
}

/* Returns 1 if the instruction at 'ip' is in the code range r. */
static inline int owner_isin (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}

#endif
