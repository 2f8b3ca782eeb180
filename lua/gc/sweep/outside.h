/* SPDX-License-Identifier: MIT */
/*
** External bytes: memory and resources outside the heap that userdata own, for example an image, a
** connection or an open file. In the heap such a userdata has only a few bytes; the more external
** bytes it owns, the sooner its death should be found. So external bytes count as growth of the
** heap, which starts major collections (pace.c), and if many are added since the last minor
** collection, the next one starts early. (Compare caml_alloc_custom_mem of OCaml and the external
** memory of V8.)
**
** A userdata that owns external bytes is in lists.standins, which collections sweep like the other
** lists of sweep.c. When the userdata is dead, its bytes are subtracted. If it has a finalizer,
** that has run before, because a userdata pending finalization counts as alive.
**
** Invariants (checked by luaN_verify):
**   UO1  bytes.outside is the sum of the external bytes of the userdata in lists.standins. These
**        userdata have LUAN_LISTED and are listed once; no other userdata owns external bytes.
**   UO2  'most' of a userdata is the largest number of units (of LUAN_UNIT external bytes) that it
**        has owned since it last owned none, up to the range of the field. The sampler has counted
**        exactly these units as allocated. 'most' is 0 while the userdata owns none.
*/
#ifndef luaN_outside_h
#define luaN_outside_h

#include "lgc.h"
#include "lstate.h"

/* Sets the external bytes of u (outside the heap, owned by u) to n, or to fewer if the sum of
   all userdata would exceed LUAN_MOSTOUTSIDE. Has no effect if there is no memory to list u: the
   number is only a hint for the collector. May call the sampler; runs no collection. */
LUAI_FUNC void luaN_standfor (lua_State *L, Udata *u, size_t n);

/*
** Returns 1 if u stays in lists.standins, the list of userdata that own external bytes. To be
** called for each entry of the list in a sweep:
**   - u is alive and owns external bytes: returns 1
**   - u is alive and owns none: clears LUAN_LISTED of u, and returns 0
**   - u is dead: subtracts its external bytes from the sum, and returns 0
*/
LUAI_FUNC int luaN_keepstandin (global_State *g, Udata *u);

/* Checks the invariants of external bytes, UO1 and UO2. Returns NULL if both hold. Otherwise
   returns the name of the one violated, and sets *where to the userdata or the accounts. */
LUAI_FUNC const char *luaN_checkoutside (const global_State *g, const void **where);

#endif
