/* SPDX-License-Identifier: MIT */
/*
** States that are profiled because the environment says so (ASAMP): when one is
** complete, the profiler's module is asked to take it. The module is found beside the
** library, so that no state's package.cpath matters; it is loaded, with all that it
** needs, when the library is: later the process may be elsewhere (chroot).
**
** Where the variable is not set, a state costs one getenv. A setuid program does not
** see it (secure_getenv).
*/
#ifndef luaN_attach_h
#define luaN_attach_h

LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
