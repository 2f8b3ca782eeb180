/* SPDX-License-Identifier: MIT */
/*
** A chase resolves ephemerons from their keys. The entries whose keys may be dead are put into a
** hash table by key. When marking reaches an object, the values of the entries with that key are
** marked next, and so on, as in Hayes, "Ephemerons: a new finalization mechanism" (1997).
**
** A chase takes one step for each entry and each object that it marks. The alternative is to visit
** all entries repeatedly. A visit of all entries may resolve only one of them: for a linked list
** whose links are in a weak table, that took seconds. A few such visits are tried first
** nevertheless, because a chase costs a lookup for each object that is marked during it.
*/
#ifndef luaN_chase_h
#define luaN_chase_h

#include "lobject.h"
#include "lstate.h"

#include "vec.h"

/* Entries of ephemeron tables whose keys are not marked so far: a hash table with chains, by the
   addresses of the keys. */
typedef struct luaN_Chase {
  /* Heads of the chains of entries whose keys have the same hash; their number is a power of two. A
     head is the number of the first entry of its chain, counted from 1, or 0 if the chain is
     empty. */
  luaN_Vec heads;
  /* Each entry is two words: a node of an ephemeron table, and the number of the next entry of its
     chain, or 0. */
  luaN_Vec entries;
} luaN_Chase;

/* Starts a chase: resolves ephemerons by their keys. 'n' is the largest number of entries that
   will be added to x. Returns 0 if there is no memory; then luaN_endchase must not be called. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* Marks the value of node n of an ephemeron table if its key is marked. Otherwise adds n to the
   entries of x, so that the value is marked when the key is reached. Does nothing if n is empty.
   The node must not move until the chase ends. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/* Ends a chase: marks the values of the entries of x whose keys are reached, with everything
   that the values refer to, and frees the memory of x. Returns 1 if no entry was missed. Returns
   0 if a mark stack was full: a key may then have been marked without being pushed (pending,
   mark.h), so that its entries were missed. Resolved entries stay in the lists of unresolved
   entries until the next visit of these lists. */
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);

#endif
