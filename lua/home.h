/* SPDX-License-Identifier: MIT */
/*
** The folder in which this Lua is installed, which contains its 'lib' and 'share'. A tree that was
** moved, such as an unpacked tarball, is found by the place of its library or program.
*/
#ifndef luaN_home_h
#define luaN_home_h

/*
** Sets 'home', of PATH_MAX bytes, to candidate number i: the folder of the library, of the program,
** of the build. It is "" if that is unknown. Returns 0 after the last one.
*/
LUAI_FUNC int luaN_homeof (int i, char *home);

/*
** Returns the first candidate that contains share/asamp, or else that of the build. It is searched
** for once. Takes a few system calls; allocates nothing.
*/
LUAI_FUNC const char *luaN_home (void);

/* Pushes the path 'below' that folder, and returns it. */
LUAI_FUNC const char *luaN_pushhome (lua_State *L, const char *below);

#endif
