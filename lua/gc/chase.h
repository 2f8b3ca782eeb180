/* SPDX-License-Identifier: MIT */
/*
** Ephemerons by their keys. The entries whose keys may be dead are found from the keys: when
** marking comes to an object, the values of its entries are marked next, and so on, as in
** Hayes, "Ephemerons: a new finalization mechanism" (1997). It takes a step for each entry
** and each object, whatever leads to what, where passes over all entries may resolve one
** each: a list whose links are in a weak table took seconds.
**
** It costs a look for each object that is marked meanwhile, so passes come first.
*/
#ifndef luaN_chase_h
#define luaN_chase_h

#include "lobject.h"
#include "lstate.h"

#include "vec.h"

/* Entries by the addresses of their keys: a hash table with chains. */
typedef struct luaN_Chase {
  luaN_Vec heads;		/* a power of two: the first entry of each chain, from 1 */
  luaN_Vec entries;		/* node, next entry of the chain or 0, node, ... */
} luaN_Chase;

/* Begins with room for n entries. 0: there is no memory, and nothing to end. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* One of the entries, of an ephemeron table. Entries must not move until the end. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/* Marks all that the entries lead to. Those that are resolved stay in their lists, for the next
   pass to take off. 0: a mark stack was full, so that some may have been missed. */
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);

#endif
