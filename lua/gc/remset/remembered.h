/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks from the remembered set and empties it, except for slots of tables with weak values whose
   value or weak key may be dead. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* Removes the entries with dead values in the slots that luaN_markremembered has left in
   remset.slots; keeps only slots there whose key may be dead. If 'keys' is 1, removes the entries
   with dead keys instead, and empties remset.slots. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
