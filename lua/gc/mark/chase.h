/* SPDX-License-Identifier: MIT */
/*
** A chase resolves ephemerons from their keys, in linear time (Hayes, "Ephemerons: a new
** finalization mechanism", 1997). Entries with unmarked keys are put into a hash table by key. When
** marking reaches an object, the values of the entries with that key are marked next.
**
** The collector first visits all entries a few times, because a chase must look up each object that
** it marks. More such visits could take quadratic time, for example for a linked list whose links
** are ephemerons; then a chase follows.
*/
#pragma once

#include "lstate.h"

#include "vec.h"

/* A chained hash table: entries of ephemeron tables, by the addresses of their unmarked keys. */
typedef struct luaN_Chase {
  /* One word for each chain: the number of its first entry, or 0. The first entry in 'entries' has
     the number 1. The number of chains is a power of two. */
  luaN_Vec heads;
  /* Two words for each entry: a node, and the number of the next entry in the same chain, or 0. */
  luaN_Vec entries;
} luaN_Chase;

/* Starts to resolve at most n ephemerons by their keys, and returns 1. Returns 0 if there is no
   memory; the caller must not call luaN_endchase in this case. */
LUAI_FUNC int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n);

/* Marks the value of node n if its key is marked, else adds n to x. Does nothing if n is empty. The
   node must not move until luaN_endchase is called. */
LUAI_FUNC void luaN_follow (global_State *g, luaN_Chase *x, Node *n);

/* Ends the chase: traverses marked objects and marks the value of each entry of x whose key is
   marked, until no such value is left. Frees x. Returns 1 if all entries with marked keys were
   found; 0 if some may have been missed, because a marked object did not fit on a mark stack. */
LUAI_FUNC int luaN_endchase (global_State *g, luaN_Chase *x);
