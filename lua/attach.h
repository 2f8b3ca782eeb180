/* SPDX-License-Identifier: MIT */
/*
** Profiling of states because of the environment variable ASAMP: each state is passed to the
** profiler's module when the state is complete. The module is searched for in the folders of
** luaN_homeof, so that no state's package.cpath matters. The module is loaded with all its files
** when the library is loaded, because the process may not reach the files later (chroot). If ASAMP
** is not set at that time, the module is loaded when the first state is complete after ASAMP was
** set.
**
** If the variable is not set or empty, a state costs one getenv. A setuid program ignores the
** variable (secure_getenv).
*/
#ifndef luaN_attach_h
#define luaN_attach_h

/* Passes the complete state L to the profiler's module, if ASAMP is set and the module accepts
   states. Does nothing for states that the module itself creates while it is set up. */
LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
