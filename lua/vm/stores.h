/* SPDX-License-Identifier: MIT */
/*
** Stores by which a table gets an entry. Two things are done without a call: to fill a
** place that is there and has nothing in it (of an array that has grown, or a key that was
** removed), and to put a new field into a young table (fields.h).
*/
#ifndef luaN_stores_h
#define luaN_stores_h

#include "ltable.h"

#include "gc.h"

/*
** Puts v into 'slot', the empty place of 'key' in o (NULL: o is no table; 'key' is NULL
** where it is an integer). 1 when that is done. 0: there is more to it (a metamethod, a new
** key but for what luaN_newfield does); nothing is done.
*/
static inline int luaN_fill (lua_State *L, const TValue *o, const TValue *slot,
                             const TValue *key, const TValue *v) {
  Table *t;
  if (slot == NULL) return 0;
  t = hvalue(o);
  if (isabstkey(slot))
    return key != NULL && ttisshrstring(key) && luaN_newfield(L, t, tsvalue(key), v);
  if (!luaN_hasnonewindex(t)) return 0;
  setobj2t(L, cast(TValue *, slot), v);
  invalidateTMcache(t);
  luaN_slotbarrier(L, t, slot, v);
  return 1;
}

#endif
