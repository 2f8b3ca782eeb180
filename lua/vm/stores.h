/* SPDX-License-Identifier: MIT */
/* Stores for which the bytecode loop need not call luaV_finishset: a store into an existing empty
   slot, or of a new field into a young table (luaN_newfield of fields.h). */
#pragma once

#include "ltable.h"

#include "gc.h"

/*
** Sets 'slot' to the slot of integer k in t, or to NULL if t is not a table. The value of the macro
** is 1 if the slot may be stored to directly. It is 0 if
** - t is not a table
** - or the slot is empty, and t has a metatable or no array slot for k
**
** The caller must then use luaN_fill, which also checks for __newindex and for a missing key. If t
** has no metatable, the macro does not read an array slot, because that would be a cache miss.
*/
#define luaN_placei(t,k,slot) \
  (!ttistable(t) ? (slot = NULL, 0) \
   : (l_castS2U(k) - 1u < hvalue(t)->alimit) \
     ? (slot = &hvalue(t)->array[(k) - 1], \
        l_likely(hvalue(t)->metatable == NULL) || !isempty(slot)) \
     : (slot = luaH_getint(hvalue(t), k), !isempty(slot)))


/*
** Stores v in o under 'key', and returns 1. Returns 0 and changes nothing if o is not a table or
** may have a __newindex, or if the key is new and luaN_newfield does not add it.
** slot  the empty slot of the key, found by a lookup; NULL if o is not a table
** key   may be NULL if the key is an integer
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
