/* SPDX-License-Identifier: MIT */
/*
** Counts the memory that the profiler has allocated with malloc and not freed. In a library
** linked with --wrap, allocation calls are redirected to module/ownmalloc.c, which counts them
** here (asamp/build.mk lists these libraries), including zlib's states (zmemory.h). Allocations
** of other libraries that the profiler calls, such as the data of libdw and libunwind on native
** code, are not counted.
*/
#ifndef asamp_own_h
#define asamp_own_h

#include <stdint.h>

extern int64_t own_count;  /* atomic */

/* Returns the bytes, as rounded up by malloc. 0: not counted in this library. */
uint64_t own_bytes (void);

#endif
