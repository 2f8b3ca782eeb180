/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* Runs a minor collection; calls no finalizer. If 'ageing' is 1, the collection may leave objects
   young (ageing.h, waiting.h). 'ageing' must be 0 while a major collection runs. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* To be called right after luaN_minor, unless 'ageing' was 0. If a major collection starts now
   ('start' is 1), tenures the objects that the minor collection has left young. Otherwise adds the
   objects and slots that refer to them, their holders, to the remembered set, so that the next
   minor collection reaches them. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);

#endif
