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

/* Finds the frames of other Lua states than L's in the array 'a' of n return addresses. If such a
   frame is a bytecode loop (luaV_execute), sets the highest bit of its element in 'a'
   (owner_marked). If it is a call of lua_resume, removes its element. Returns the number of
   elements left.
   sp     an address in the innermost frame
   whole  1: the last frame of 'a' is the outermost one of the stack */
int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole);

/* Stores in 'states' up to 'max' main threads: those of the Lua states that run on this OS thread,
   innermost first. Returns the number of stored main threads. If a state calls another state, which
   calls the first state again, the first state is stored twice. 'sp': an address in the innermost
   frame. */
unsigned owner_states (const void *sp, const void **states, unsigned max);

/* 'a' is an element of the array of owner_mark. If owner_mark has set its highest bit, returns the
   return address without this bit, else NULL. */
static inline const char *owner_marked (const void *a) {
  uintptr_t bit = (uintptr_t)1 << 63;  /* 0 in all addresses of user space */
  return ((uintptr_t)a & bit) ? (const char *)((uintptr_t)a & ~bit) : NULL;
}

/* Returns 1 if the instruction at 'ip' is in the code range r. */
static inline int owner_isin (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}

#endif
