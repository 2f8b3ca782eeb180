/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks, in a minor collection, the objects to which the objects and slots of the remembered set
   refer, and empties the set. A slot of a table with weak values stays in remset.slots if its
   value or its weak key is not marked so far. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/*
** Removes dead entries from weak tables: those in the slots that luaN_markremembered has left in
** remset.slots. To be called twice:
**   - first with 'keys' 0: removes the entries with dead values, and leaves in remset.slots only
**     the slots whose key is not marked so far
**   - then with 'keys' 1: removes the entries with dead keys, and empties remset.slots
*/
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
