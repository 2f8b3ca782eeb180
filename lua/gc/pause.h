/* SPDX-License-Identifier: MIT */
/*
** Pauses: how long they last, what they looked at. Users see it all (luaN_memory).
*/
#ifndef luaN_pause_h
#define luaN_pause_h

/* Nanoseconds of a clock that only goes forward. */
LUAI_FUNC uint64_t luaN_now (void);

/* The program waits for a collection; it goes on (finalizers may be called). */
LUAI_FUNC void luaN_beginpause (global_State *g);
LUAI_FUNC void luaN_endpause (lua_State *L);

/* What is left of this pause, which a minor collection has begun, is a major one's. */
LUAI_FUNC void luaN_beginslice (global_State *g);

/* Ends what luaN_beginpause has begun without a word to anybody: of a part of the work ahead of
   a collection (refine.c). */
LUAI_FUNC void luaN_endslice (global_State *g);

#endif
