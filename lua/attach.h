/* SPDX-License-Identifier: MIT */
/*
** Profiling of states because of the environment variable ASAMP: when a state is complete, the
** profiler's module receives it. The module is searched for in the folders of luaN_homeof, so that
** no state's package.cpath matters. It is loaded with everything that it needs when the library is
** loaded, because the process may not reach the files later (chroot).
**
** If the variable is not set, a state costs one getenv. A setuid program ignores the variable
** (secure_getenv).
*/
#ifndef luaN_attach_h
#define luaN_attach_h

/* Passes the complete state L to the profiler's module, if ASAMP is set and the module accepts
   states. */
LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
