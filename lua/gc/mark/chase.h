/* SPDX-License-Identifier: MIT */
/*
** A chase resolves ephemerons from their keys. The entries whose keys may be dead are put into a
** hash table by key. When marking reaches an object, the values of the entries with that key are
** marked next, and so on, as in Hayes, "Ephemerons: a new finalization mechanism" (1997).
**
** A chase takes one step for each entry and each object that it marks. The alternative is repeated
** passes over all entries, each of which may resolve only one entry: for a linked list whose links
** are in a weak table, that took seconds. Passes are tried first nevertheless, because a chase
** costs a lookup for each object that is marked during it.
*/
#ifndef luaN_chase_h
#define luaN_chase_h

#include "lobject.h"
#include "lstate.h"

#include "vec.h"

/* The entries of a chase: a hash table with chains, by the addresses of the keys. */
typedef struct luaN_Chase {
  /* Heads of the chains; their number is a power of two. A head is the index, from 1 on, of the
     first entry of its chain, or 0. */
  luaN_Vec heads;
  /* Each entry is a pair: a node, and the index of the next entry of its chain, or 0. */
  luaN_Vec entries;
} luaN_Chase;

/* Starts a chase with capacity for n entries. Returns 0 if there is no memory; then luaN_endchase
   must not be called. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* Visits node n of an ephemeron table: if the key is alive, marks the value; if not, adds n to the
   chase. Does nothing if n is empty. The node must not move until the chase ends. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/*
** Runs the chase: marks the values of the entries whose keys are reached, with everything that the
** values refer to. Then frees the chase. The next pass removes the resolved entries from their
** lists. Returns 0 if a mark stack was full: then entries may have been missed whose key became
** pending.
*/
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);

#endif
