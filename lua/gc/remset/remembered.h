/* SPDX-License-Identifier: MIT */
/* Visits the remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* To be called in a minor collection: marks the objects to which the remembered set refers, and
   empties the set. A slot of a table with weak values stays in remset.slots, for luaN_clearslots,
   if its value or weak key is not marked. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* Visits the slots of weak tables that luaN_markremembered has left in remset.slots. The first
   call, with keys = 0, removes the entries with dead values. The second call, with keys = 1,
   removes the entries with dead keys, and empties remset.slots. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
