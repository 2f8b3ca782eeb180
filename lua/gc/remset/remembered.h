/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks from the remembered set and empties it. Slots of tables with weak values stay in
   remset.slots if their value or their weak key is not marked so far. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* To be called for the slots that luaN_markremembered has left in remset.slots, twice. The first
   call ('keys' 0) removes the entries with dead values from their tables, and leaves in
   remset.slots only the slots whose key is not marked so far. The second ('keys' 1) removes the
   entries with dead keys, and empties remset.slots. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
