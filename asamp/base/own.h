/* SPDX-License-Identifier: MIT */
/*
** Counts the memory that the profiler has allocated with malloc and not freed. The library
** profiler.core is linked with --wrap (asamp/build.mk), which redirects its allocation calls to
** module/ownmalloc.c, where they are counted; the states of zlib are included (zmemory.h).
** Allocations inside other libraries that the profiler calls are not counted, such as the data of
** libdw and libunwind on native code.
*/
#ifndef asamp_own_h
#define asamp_own_h

#include <stdint.h>

extern int64_t own_count;  /* bytes, as malloc_usable_size returns them; atomic */

/* Returns the bytes, rounded up as malloc does; 0 in a library that is not linked with --wrap. */
uint64_t own_bytes (void);

#endif
