/* SPDX-License-Identifier: MIT */
/* The remembered set in a minor collection. */
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks from the remembered set and empties it, except for slots of weak tables whose values may
   be dead. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* Removes the entries with dead values in the remembered slots of weak tables; if 'keys' is 1, the
   entries with dead keys. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
