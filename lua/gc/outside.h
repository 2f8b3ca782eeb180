/* SPDX-License-Identifier: MIT */
/*
** Memory and resources outside of the heap that userdata stand for: an image, a
** connection, an open file. To the collector such a userdata is a few bytes; what
** it stands for says how soon its death should be found. So these bytes count
** as growth, which begins major collections (pace.c), and many of them at once
** bring a minor collection early. (Compare caml_alloc_custom_mem of OCaml and
** the external memory of V8.)
**
** A userdata that stands for something is in 'standins', which collections sweep
** as they do the other lists of sweep.c: when it is dead the bytes are taken back.
** Its finalizer runs before that: a userdata that waits for its finalizer is alive.
**
** Invariants (checked by luaN_verify):
**   UO1  'outside' is the sum of what the userdata in 'standins' stand for. They
**       are LUAN_LISTED, once each; no other userdata stands for anything.
**   UO2  'most' of a userdata is the most that it has stood for since it stood for
**       nothing, as far as the field goes; samples have counted that much. It is 0 while
**       the userdata stands for nothing.
*/
#ifndef luaN_outside_h
#define luaN_outside_h

#include "lgc.h"
#include "lstate.h"

/* u stands for n bytes from now on. A hint, which is lost without memory to note it. */
LUAI_FUNC void luaN_standfor (lua_State *L, Udata *u, size_t n);

/* Does u stay in 'standins'? The dead stand for nothing any more. */
LUAI_FUNC int luaN_keepstandin (global_State *g, Udata *u);

/* For the verifier: what is wrong, and with what; NULL: nothing. */
LUAI_FUNC const char *luaN_checkoutside (const global_State *g, const void **where);

#endif
