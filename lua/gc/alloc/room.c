/* SPDX-License-Identifier: MIT */
/*
** The size of a table's hash part. Upstream takes the smallest power of 2 that holds the existing
** keys. If the number of keys stays just below such a power while keys are inserted and removed, as
** in a cache or a weak table, few nodes are free: soon a new key rehashes the whole table again.
**
** So if a rehash finds that the keys still fit into the present parts, the hash part gets free
** nodes in proportion to all slots of the table. Then the number of insertions from one rehash to
** the next is in proportion to the cost of a rehash.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "ltable.h"

/* If a table has at least MIN_SLOTS slots (array and hash part), its hash part is made so large
   that at least one PART-th of these slots are free nodes. A larger PART saves memory and makes
   rehashes more frequent. */
#define MIN_SLOTS	256u
#define PART	16u


unsigned luaN_hashroom (const Table *t, unsigned asize, unsigned hashed) {
  size_t size = 1;
  if (hashed > (unsigned)allocsizenode(t) || asize > t->alimit)
    return hashed;
  while (size < hashed) size *= 2;
  if (asize + size < MIN_SLOTS) return hashed;
  while (size - hashed < (asize + size) / PART) size *= 2;
  return (size > MAX_INT) ? hashed : (unsigned)size;
}
