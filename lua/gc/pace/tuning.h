/* SPDX-License-Identifier: MIT */
/* Parameters of the pacer: from the environment variable LUA_GC if it sets them, else from the
   program. */
#pragma once

#include "chunks.h"

/* Bytes of the smallest nursery that LUA_GC may set, or that is used when memory is short: a
   page. */
#define LUAN_LEASTNURSERY	((size_t)LUAN_PAGE)

/* Reads LUA_GC for a new state. If a word is wrong, ignores the whole variable and prints an error
   (once per process). */
LUAI_FUNC void luaN_readtuning (global_State *g);

/* Returns the parameter in effect. t: 1 plus the value from LUA_GC, or 0 if LUA_GC has none. own:
   the program's value, returned if t is 0. */
#define luaN_tuned(t,own)	((t) != 0 ? (unsigned)(t) - 1u : (unsigned)(own))

/* 1 if the generational mode is in effect: set by LUA_GC, or by the program if LUA_GC sets no
   mode */
#define luaN_isgen(g) \
  ((g)->heap.gc.pace.tuning.mode != 0 ? (g)->heap.gc.pace.tuning.mode == 1 + KGC_GEN \
                                 : isdecGCmodegen(g))

/* upstream's parameter 'pause' (from LUA_GC or the program), in percent */
#define luaN_pause(g)	luaN_tuned((g)->heap.gc.pace.tuning.pause, getgcparam((g)->gcpause))

/* upstream's parameter 'stepmul' (from LUA_GC or the program), in percent; bit 0 is set, so that
   the value is never 0 */
#define luaN_stepmul(g) \
  (luaN_tuned((g)->heap.gc.pace.tuning.stepmul, getgcparam((g)->gcstepmul)) | 1u)
