/* SPDX-License-Identifier: MIT */
/*
** The folder in which this Lua is installed, which contains its 'lib' and 'share'. A tree that was
** moved, such as an unpacked tarball, is found by the place of its library or program.
*/
#ifndef luaN_home_h
#define luaN_home_h

/*
** Sets 'home', of PATH_MAX bytes, to candidate number i for the installation folder: the folder
** above the library's folder (0), the folder above the program's folder (1), the installation
** folder that the library was built for (2). 'home' is "" for the root folder, and for a folder
** that is unknown. Returns 0 after the last candidate.
*/
LUAI_FUNC int luaN_homeof (int i, char *home);

/*
** Returns the first candidate (luaN_homeof) with a readable share/asamp/profiler.lua. If there is
** none, returns the folder that the library was built for. The first call tests the candidates,
** with a few system calls.
*/
LUAI_FUNC const char *luaN_home (void);

/* Pushes the path of luaN_home followed by 'below' ("/..."), and returns the string. May collect;
   raises a memory error. */
LUAI_FUNC const char *luaN_pushhome (lua_State *L, const char *below);

#endif
