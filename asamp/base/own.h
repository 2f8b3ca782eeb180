/* SPDX-License-Identifier: MIT */
/*
** What the profiler has asked malloc for, and not given back: in a library that is linked
** with --wrap its requests come to module/ownmalloc.c, which counts them here (asamp/build.mk
** says which is), zlib's states among them (zmemory.h). What other libraries that it calls ask
** for is theirs: what libdw and libunwind know of native code.
*/
#ifndef asamp_own_h
#define asamp_own_h

#include <stdint.h>

extern int64_t own_count;  /* atomic */

/* In bytes, as malloc rounds them up. 0: nobody counts. */
uint64_t own_bytes (void);

#endif
