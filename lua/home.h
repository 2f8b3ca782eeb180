/* SPDX-License-Identifier: MIT */
/*
** The folder in which this Lua is installed, which contains its 'lib' and 'share'. A tree that was
** moved, such as an unpacked tarball, is found by the place of its library or program.
*/
#ifndef luaN_home_h
#define luaN_home_h

/*
** Sets 'home', of PATH_MAX bytes, to candidate number i: the folder above the library's folder (0),
** the one above the program's (1), the one of the build (2). 'home' is "" if that is unknown.
** Returns 0 after the last candidate.
*/
LUAI_FUNC int luaN_homeof (int i, char *home);

/*
** Returns the first candidate that contains share/asamp/profiler.lua, or else that of the build.
** The first call searches for it, with a few system calls. Allocates nothing.
*/
LUAI_FUNC const char *luaN_home (void);

/* Pushes the path of luaN_home followed by 'below' ("/..."), and returns it. Raises a memory
   error. */
LUAI_FUNC const char *luaN_pushhome (lua_State *L, const char *below);

#endif
