/* SPDX-License-Identifier: MIT */
/*
** The remembered set in a minor collection.
*/
#ifndef luaN_remembered_h
#define luaN_remembered_h

/* Marks what is remembered, which is forgotten then, but for slots of weak values. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* Removes the entries of those whose values are dead, then those whose keys are. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);

#endif
