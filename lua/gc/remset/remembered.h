/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks from the remembered set in a minor collection, and empties it. A slot of a table with weak
   values stays in remset.slots if its value or weak key is not marked. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/*
** Removes dead entries from the slots of weak tables that luaN_markremembered has left in
** remset.slots: with 'keys' 0, entries with dead values; then, in a second call with 'keys' 1,
** entries with dead keys. The second call empties remset.slots.
*/
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
