/* SPDX-License-Identifier: MIT */
/* Stores that add an entry to a table and need no call of luaV_finishset. There are two cases: the
   entry fills an empty slot that exists (in an array that has grown, or of a key whose entry was
   removed), or it adds a field to a young table (luaN_newfield of fields.h). */
#ifndef luaN_stores_h
#define luaN_stores_h

#include "ltable.h"

#include "gc.h"

/*
** Sets 'slot' to the slot of integer k in t, or to NULL if t is not a table. True if the value of
** the slot may be set without luaN_fill. The value is not read if t has no metatable and the slot
** is in the array: a large array is in no cache, and a load would wait for memory, which a store
** does not.
*/
#define luaN_placei(t,k,slot) \
  (!ttistable(t) ? (slot = NULL, 0) \
   : (l_castS2U(k) - 1u < hvalue(t)->alimit) \
     ? (slot = &hvalue(t)->array[(k) - 1], \
        l_likely(hvalue(t)->metatable == NULL) || !isempty(slot)) \
     : (slot = luaH_getint(hvalue(t), k), !isempty(slot)))


/*
** Stores v in o under 'key', where 'slot' is the empty slot of the key, and returns 1. 'slot' is
** NULL if o is not a table; 'key' may be NULL for an integer. Returns 0, and changes nothing, if
**   - o is not a table
**   - o may have a __newindex
**   - the key is new, and luaN_newfield does not add it
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
