/* SPDX-License-Identifier: MIT */
/*
** The size of a table's hash part. Upstream takes the smallest power of 2 that holds the existing
** keys. If keys are inserted and removed while their number stays just below such a power (in
** caches, work sets, and weak tables from which the collector removes keys), the few free nodes are
** used up at once and the next new key rehashes the whole table. So a hash part that is rehashed
** and has not grown gets free nodes for a part of all slots, and the insertions that fill them
** pay for the next rehash.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "ltable.h"

/* MIN_SLOTS: slots (array and hash part) of the smallest table that gets these free nodes. At least
   one PART-th of as many slots is free nodes then; a larger PART saves memory and makes rehashes
   more frequent. */
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
