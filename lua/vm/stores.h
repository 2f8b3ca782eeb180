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
** Finds the 'slot' of integer k in t, a value that may be stored to. 1: what is there may be
** overwritten. What an array has there is not read where no metatable could make a difference:
** in a large array it is not in any cache, and a load waits for it, which a store does not.
*/
#define luaN_placei(t,k,slot) \
  (!ttistable(t) ? (slot = NULL, 0) \
   : (l_castS2U(k) - 1u < hvalue(t)->alimit) \
     ? (slot = &hvalue(t)->array[(k) - 1], \
        l_likely(hvalue(t)->metatable == NULL) || !isempty(slot)) \
     : (slot = luaH_getint(hvalue(t), k), !isempty(slot)))


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
