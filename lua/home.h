/* SPDX-License-Identifier: MIT */
/*
** The folder in which this Lua is installed, with 'lib' and 'share'. A tree that was moved is found
** by the place of its library or program.
*/
#ifndef luaN_home_h
#define luaN_home_h

/*
** Sets 'home' (PATH_MAX bytes) to candidate i for the installation folder: the folder above the
** library's folder (0), above the program's folder (1), the folder of the build (2). Sets "" for
** the root folder, or if it is unknown. Returns 0 after the last candidate.
*/
LUAI_FUNC int luaN_homeof (int i, char *home);

/*
** Returns the first candidate with a readable share/asamp/profiler.lua; else the folder of the
** build. The first call makes a few system calls.
*/
LUAI_FUNC const char *luaN_home (void);

/* Pushes and returns the path of luaN_home followed by 'below' ("/..."). May collect; raises a
   memory error. */
LUAI_FUNC const char *luaN_pushhome (lua_State *L, const char *below);

#endif
