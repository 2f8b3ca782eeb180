/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#pragma once

/* Runs a minor collection, without finalizers. If 'ageing' is 1, may leave some live objects
   untenured (ageing.h), and the caller must then call luaN_aged. 'ageing' must be 0 while a major
   collection runs. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* To be called right after luaN_minor with ageing 1. Remembers the objects and slots that refer to
   objects which luaN_minor has not tenured, so that the next minor collection reaches these young
   objects again. If a major collection starts ('start' 1), tenures the young objects instead. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);
