/* SPDX-License-Identifier: MIT */
/*
** Profiles states if the environment variable ASAMP is set: passes each complete state to the
** profiler's module. A setuid program ignores the variable.
**
** The module is searched for in installation folders (home.h), not by package.cpath. It is loaded
** with the library, because the process may not reach the files later (chroot); or with the first
** state that is complete after ASAMP was set.
*/
#ifndef luaN_attach_h
#define luaN_attach_h

/* Passes the complete state L to the profiler's module, if ASAMP is set and the module was loaded.
   Does nothing for states that the module creates while it is set up. */
LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
