/* SPDX-License-Identifier: MIT */
/*
** The folder in which this Lua is installed, with 'lib' and 'share'. If the installation was moved,
** its folder is found from the path of the library or program.
*/
#ifndef luaN_home_h
#define luaN_home_h

/*
** Writes candidate i for the installation folder to 'home' (PATH_MAX bytes). Candidate 0 is the
** folder above the library's folder, 1 the folder above the program's folder, 2 the folder
** configured when Lua was built. Writes "" for the root folder, or if the candidate cannot be
** found. Returns 0 if there is no candidate i, else 1.
*/
LUAI_FUNC int luaN_homeof (int i, char *home);

/*
** Returns the first candidate (luaN_homeof) with a readable share/asamp/profiler.lua; if there is
** none, the folder configured when Lua was built. Only the first call searches.
*/
LUAI_FUNC const char *luaN_home (void);

/* Pushes and returns the string of luaN_home followed by 'below', which starts with "/". May
   collect; raises a memory error. */
LUAI_FUNC const char *luaN_pushhome (lua_State *L, const char *below);

#endif
