/* SPDX-License-Identifier: MIT */
/*
** The size of a table's hash part. Upstream takes the smallest power of 2 that holds the keys. If a
** program inserts and removes keys, as in a cache, and few nodes are free, the whole table is
** rehashed after every few new keys.
**
** So a hash part whose keys still fit gets free nodes in proportion to all slots. The next rehash
** then comes after a proportional number of insertions.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "ltable.h"

/* A table of at least MIN_SLOTS slots (array and hash part) gets at least one free node for each
   PART slots. A larger PART saves memory and makes rehashes more frequent. */
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
