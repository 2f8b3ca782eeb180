/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or at once. */
#ifndef luaN_major_h
#define luaN_major_h

LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* Goes on with the major collection that runs; 'bytes' is what may be looked
   at. gcstate is GCSpause when it is over. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Everything at once. */
LUAI_FUNC void luaN_full (lua_State *L);

/* Empty chunks go back to lua_Alloc: all, or some. */
LUAI_FUNC void luaN_trimheap (global_State *g, int all);

#endif
