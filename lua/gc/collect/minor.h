/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* Runs a minor collection. 'ageing': objects may stay young (ageing.h, waiting.h); must be 0 while
   a major collection runs. Calls no finalizer. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* Remembers the holders of the objects that the minor collection left young. 'start': a major
   collection starts now, so these objects are tenured instead. To be called right after luaN_minor;
   may be omitted if 'ageing' was 0. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);

#endif
