/* SPDX-License-Identifier: MIT */
/*
** Profiles Lua states if the environment variable ASAMP is set: passes each new state, as soon as
** it is initialized, to the profiler's module. A setuid program ignores the variable.
**
** The module is searched for in installation folders (home.h), not by package.cpath. It is loaded
** together with the Lua library, because the process may not reach the file later (chroot). If the
** program sets ASAMP later, the module is loaded when the next state is created.
*/
#ifndef luaN_attach_h
#define luaN_attach_h

/* Passes the new, initialized state L to the profiler's module, if the environment variable ASAMP
   is set and the module could be loaded. Does nothing for states that the module itself creates
   during its initialization. */
LUAI_FUNC void luaN_complete (struct lua_State *L);

#endif
