/* SPDX-License-Identifier: MIT */
/*
** External bytes: memory and resources outside the heap that userdata own, such as an image, a
** connection or an open file. The more a userdata owns, the sooner its death should be found. So
** external bytes count as growth of the heap, which starts major collections (pace.c); and if many
** are added, the next minor collection starts early.
**
** Userdata that own external bytes are in lists.standins. When the sweep of that list finds a
** userdata dead, it subtracts the external bytes of the userdata from bytes.outside. If the
** userdata had a finalizer, the finalizer has run before, because a userdata pending finalization
** counts as alive.
**
** Invariants (checked by verify.c):
**   UO1  bytes.outside is the sum of the external bytes of the userdata in lists.standins. These
**        userdata have LUAN_LISTED and are listed once; no other userdata owns external bytes.
**   UO2  The field 'most' of a userdata is a number of units; a unit is LUAN_UNIT external bytes.
**        It is the largest number of units that the userdata has owned since it last owned none,
**        up to the range of the field. Samples have counted exactly these units as allocated. The
**        field is 0 while the userdata owns no external bytes.
*/
#pragma once

#include "lgc.h"

/* Sets the external bytes of u to n, or to fewer if the external bytes of all userdata would exceed
   LUAN_MOSTOUTSIDE. Does nothing if there is no memory to list u, because the number is only a hint
   for the collector. May call the sampler; runs no collection. */
LUAI_FUNC void luaN_standfor (lua_State *L, Udata *u, size_t n);

/* To be called by the sweep of lists.standins, the list of owners of external bytes, for its entry
   u. Returns 1 if u is alive and owns external bytes. Otherwise returns 0, and the caller must
   remove u from the list. If u is dead, subtracts its external bytes from bytes.outside. */
LUAI_FUNC int luaN_keepstandin (global_State *g, Udata *u);

/* Checks the invariants UO1 and UO2 of external bytes (stated above). Returns NULL if both hold.
   Otherwise returns the name of the violated one, and sets *where: to the userdata that violates
   it, or to the luaN_Gc if bytes.outside is not the sum of all external bytes. */
LUAI_FUNC const char *luaN_checkoutside (const global_State *g, const void **where);
