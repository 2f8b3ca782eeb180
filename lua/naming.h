/* SPDX-License-Identifier: MIT */
/*
** Names of functions, from their definitions. What a call calls a function depends on
** who calls, and a sampler sees few of the calls: two runs of one program would not
** agree. Where the function that holds a definition puts the closure is the same in
** every run, and its code tells it: a local variable, an upvalue, a global, a field.
**
**   NM1  'name' of a Proto is set once, when the chunk is loaded, for all functions in
**        it; NULL: it is the main function, or the closure goes elsewhere (to a call,
**        a return, a key that is computed).
**   NM2  it depends on the code and its debug information alone; precompiled chunks
**        have the same names, but for those of variables where these were stripped.
**   NM4  functions without a name that start in the same line are numbered from 1 on, in the
**        order of the source, up to 65,535 ('nth'; it is 0 in all others).
**   NM3  nothing is allocated: names are strings that the outer function has. They are
**        marked with the Proto, for it may outlive the outer one.
*/
#ifndef luaN_naming_h
#define luaN_naming_h

#include "lobject.h"

/* Names all functions in 'f'; it is reachable, and so are they. */
LUAI_FUNC void luaN_namefunctions (lua_State *L, Proto *f);

#endif
