/* SPDX-License-Identifier: MIT */
/* The local variables of a script that has ended. */
#ifndef luaN_lastchunk_h
#define luaN_lastchunk_h

/*
** Calls f with the frame of the last finished main chunk restored as the running frame, so that
** its local variables are roots. Calls f without it if that frame cannot be found. L must be the
** main thread, and nothing may be running.
*/
LUAI_FUNC void luaN_afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud);

#endif
