/* SPDX-License-Identifier: MIT */
/* What the local variables of a script held that has ended. */
#ifndef luaN_lastchunk_h
#define luaN_lastchunk_h

/* Calls f with the frame of the main chunk that has ended last as the running one, so that
   what its variables held is still held; without it where that is not to be known. L is the
   main thread, and nothing runs. */
LUAI_FUNC void luaN_afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud);

#endif
