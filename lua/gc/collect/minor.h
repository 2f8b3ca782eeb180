/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* Runs a minor collection, without finalizers. If 'ageing' is 1, some objects may be left young,
   and the caller must then call luaN_aged. Must be 0 while a major collection runs. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* Remembers the objects and slots that refer to objects left young by luaN_minor, so that the next
   minor collection reaches these again. If a major collection starts ('start' 1), tenures the young
   objects instead. To be called right after luaN_minor with ageing 1. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);

#endif
