/* SPDX-License-Identifier: MIT */
/*
** How large the hash part of a table becomes. Upstream takes the least power of 2
** that holds the keys there are. Where keys come and go while their number stays
** just below such a power, the few nodes that are left free are used up at once, and
** the next new key looks at the whole table again: a cache, a set of what is being
** done, a weak table, which the collector takes keys out of. So the hash part of a
** table that is rehashed and has not grown gets room for a part of all slots: a rehash
** is paid for by the keys that come.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "ltable.h"

/* A table with fewer slots gets no such room; in others it is this part of the slots. */
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
