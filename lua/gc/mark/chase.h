/* SPDX-License-Identifier: MIT */
/*
** A chase resolves ephemerons (entries with a weak key, whose value is alive only if the key is)
** from their keys, in linear time (Hayes, "Ephemerons: a new finalization mechanism", 1997).
** Entries with unmarked keys are put into a hash table by key. When marking reaches an object, the
** values of the entries with that key are marked next.
**
** The collector first visits all entries a few times without a hash table, because a chase costs
** more than one such visit: it looks up each object that it marks. But many such visits could take
** quadratic time, for example for a linked list whose links are ephemerons; so a chase follows.
*/
#pragma once

#include "lstate.h"

#include "vec.h"

/* A chained hash table: entries of ephemeron tables, by the addresses of their unmarked keys. */
typedef struct luaN_Chase {
  /* One word for each chain: the number of the chain's first entry, or 0 if the chain is empty.
     Entries are numbered from 1. The number of chains is a power of two. */
  luaN_Vec heads;
  /* Two words for each entry: a node, and the number of the next entry in the same chain (0 if
     there is none). */
  luaN_Vec entries;
} luaN_Chase;

/* Starts a chase: allocates the hash table x for at most n ephemerons, and returns 1. Returns 0 if
   there is no memory; in this case the caller must not call luaN_endchase. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* Marks the value of node n of an ephemeron table if the key is marked, else adds n to x. Does
   nothing if n has no value. The node must not move until luaN_endchase is called. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/* Ends the chase: traverses marked objects and marks the value of each entry of x whose key is
   marked, until no such value is left. Frees x. Returns 1 if the values of all marked keys of x are
   marked then. Returns 0 if some may have been missed, because a marked object did not fit on a
   mark stack. */
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);
