/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks from the remembered set and empties it. Slots of tables with weak values stay in
   remset.slots if their value or their weak key may be dead. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/*
** To be called for the slots that luaN_markremembered has left in remset.slots, first with 'keys'
** 0, then with 1. With 0, removes the entries whose values are dead, and keeps in remset.slots only
** the slots whose key may be dead. With 1, removes the entries whose keys are dead, and empties
** remset.slots.
*/
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
