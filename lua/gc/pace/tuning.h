/* SPDX-License-Identifier: MIT */
/* Parameters of the pacer: the operator's settings in LUA_GC, or else the program's. */
#ifndef luaN_tuning_h
#define luaN_tuning_h

#include "chunks.h"

/* Lower limit, in bytes, of the nursery sizes that LUA_GC may set, and of the bound that the
   nursery has after lua_Alloc has refused memory (pace.tight). It is the size of a page. */
#define LUAN_LEASTNURSERY	((size_t)LUAN_PAGE)

/* Reads the environment variable LUA_GC for a new state. If a word of the variable is wrong,
   ignores the whole variable and prints an error (once per process). */
LUAI_FUNC void luaN_readtuning (global_State *g);

/*
** The parameters in effect. luaN_tuned returns the operator's value, if LUA_GC has set one, else
** 'own', the program's value. 't', a field of luaN_Tuning, is the operator's value plus 1 (0:
** none). luaN_isgen is true in the generational mode. luaN_pause and luaN_stepmul are in percent;
** bit 0 of luaN_stepmul is set, so that it is never 0.
*/
#define luaN_tuned(t,own)	((t) != 0 ? (unsigned)(t) - 1u : (unsigned)(own))
#define luaN_isgen(g) \
  ((g)->heap.gc.pace.tuning.mode != 0 ? (g)->heap.gc.pace.tuning.mode == 1 + KGC_GEN \
                                 : isdecGCmodegen(g))
#define luaN_pause(g)	luaN_tuned((g)->heap.gc.pace.tuning.pause, getgcparam((g)->gcpause))
#define luaN_stepmul(g) \
  (luaN_tuned((g)->heap.gc.pace.tuning.stepmul, getgcparam((g)->gcstepmul)) | 1u)

#endif
