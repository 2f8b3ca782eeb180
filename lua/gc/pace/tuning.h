/* SPDX-License-Identifier: MIT */
/* Parameters of the pacer: the operator's settings in LUA_GC, or else the program's. */
#ifndef luaN_tuning_h
#define luaN_tuning_h

#include "chunks.h"

/* Bytes of the smallest nursery that LUA_GC may set, and lowest bound of the nursery after
   lua_Alloc has refused memory (pace.tight): a page. */
#define LUAN_LEASTNURSERY	((size_t)LUAN_PAGE)

/* Reads LUA_GC for a new state. If a word of it is wrong, ignores the variable and prints an error
   (once per process). */
LUAI_FUNC void luaN_readtuning (global_State *g);

/* luaN_tuned is the operator's setting, which is t - 1, or the program's own if t is 0. luaN_isgen
   is true if the generational mode is in effect; the other macros are the parameters in effect,
   in percent (luaN_stepmul is odd, so never 0). */
#define luaN_tuned(t,own)	((t) != 0 ? (unsigned)(t) - 1u : (unsigned)(own))
#define luaN_isgen(g) \
  ((g)->heap.gc.pace.tuning.mode != 0 ? (g)->heap.gc.pace.tuning.mode == 1 + KGC_GEN \
                                 : isdecGCmodegen(g))
#define luaN_pause(g)	luaN_tuned((g)->heap.gc.pace.tuning.pause, getgcparam((g)->gcpause))
#define luaN_stepmul(g) \
  (luaN_tuned((g)->heap.gc.pace.tuning.stepmul, getgcparam((g)->gcstepmul)) | 1u)

#endif
