/* SPDX-License-Identifier: MIT */
/*
** What is remembered, looked at ahead of the minor collection. May be called wherever
** a barrier may.
*/
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/* What the barriers remember is looked at, and then forgotten: what is young there has
   been tenured. */
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* o, which something old refers to, is tenured, and remembered itself. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* A slice of a table that is remembered as a whole, at a safe point. Returns 0 when a
   minor collection can do what is left. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
