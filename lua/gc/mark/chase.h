/* SPDX-License-Identifier: MIT */
/*
** Resolves ephemerons from their keys. Entries whose keys may be dead are put into a hash table by
** key; when marking reaches an object, the values of the entries with that key are marked next, and
** so on, as in Hayes, "Ephemerons: a new finalization mechanism" (1997). A chase takes one step for
** each entry and each object that it marks. Repeated passes over all entries may resolve only one
** entry each: with passes, a linked list whose links are in a weak table took seconds.
**
** A chase costs one lookup for each object that is marked during it, so passes are tried first.
*/
#ifndef luaN_chase_h
#define luaN_chase_h

#include "lobject.h"
#include "lstate.h"

#include "vec.h"

/* Entries by the addresses of their keys: a hash table with chains. */
typedef struct luaN_Chase {
  /* Heads of the chains; their number is a power of two. A head is the index, from 1 on, of the
     first entry of its chain, or 0. */
  luaN_Vec heads;
  /* Pairs of a node and the index of the next entry of its chain, or 0. */
  luaN_Vec entries;
} luaN_Chase;

/* Starts a chase with capacity for n entries. Returns 0 if there is no memory; luaN_endchase must
   not be called then. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* Marks the value of node n of an ephemeron table if the key is alive; adds n to the chase if not.
   No effect if n is empty. The node must not move until the chase ends. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/*
** Marks the values of the entries whose keys are reached, with everything that they refer to, and
** frees the chase. Resolved entries stay in their lists; the next pass removes them. Returns 0 if
** some object became pending because a mark stack was full: entries with it as key may have been
** missed.
*/
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);

#endif
