/* SPDX-License-Identifier: MIT */
/*
** Names of functions, from their definitions. The name by which a call finds a function depends on
** the caller, and a sampler sees few calls. So a function is named after the variable or field in
** which the enclosing function stores the new closure: this name is the same in every run, and the
** code of the enclosing function shows it.
**
**   NM1  'name' of each Proto of a chunk is set once, when the chunk is loaded. 'name' is NULL for
**        the main function, and if no name is found, for example because the closure is passed to a
**        call, returned, or stored under a computed key.
**   NM2  A name depends only on the code and its debug information. A precompiled chunk has the
**        same names; if its debug information was removed, the names of variables are missing.
**   NM3  A name is a string that the enclosing function has already; no string is made. Marking a
**        Proto marks its name, because the Proto may outlive that function.
**   NM4  Functions without a name that start in the same line are numbered from 1 in the order of
**        the source. 'nth' is the number; functions after number 65,535 have 65,535, too. The main
**        function and functions with a name have 0.
*/
#ifndef luaN_naming_h
#define luaN_naming_h

#include "lobject.h"

/* Sets 'name', or 'nth' (number of a function without a name in its line, NM4), of all functions
   inside the main function f, which must be reachable. Never raises or collects. */
LUAI_FUNC void luaN_namefunctions (lua_State *L, Proto *f);

#endif
