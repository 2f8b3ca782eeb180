/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* Runs a minor collection. Calls no finalizer. If 'ageing' is 1, some live objects may stay
   young (ageing.h, waiting.h); the caller must then call luaN_aged. 'ageing' must be 0 while a
   major collection runs. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* Handles the objects that luaN_minor has left young. If a major collection starts now ('start'
   is 1), tenures them. Otherwise adds the objects and slots that refer to them to the remembered
   set, so that the next minor collection reaches them. To be called right after luaN_minor,
   unless its argument 'ageing' was 0. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);

#endif
