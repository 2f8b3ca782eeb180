/* SPDX-License-Identifier: MIT */
/*
** Profiles states if the environment variable ASAMP is set: each state is passed to the profiler's
** module when the state is complete. A state costs one getenv if the variable is not set or empty.
** A setuid program ignores it (secure_getenv).
**
** The module is searched for in the installation folders that luaN_homeof (home.h) returns, so that
** no state's package.cpath matters. It is loaded with all its files when the library is loaded,
** because the process may not reach the files later (chroot). If ASAMP is not set at that time, the
** module is loaded when the first state is complete after ASAMP was set.
*/
#ifndef luaN_attach_h
#define luaN_attach_h

/* To be called when the state L is complete. If the environment variable ASAMP is set and the
   profiler's module was loaded and set up, passes L to the module, which profiles it. Does nothing
   for states that the module itself creates while it is set up. */
LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
