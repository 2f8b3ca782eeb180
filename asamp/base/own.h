/* SPDX-License-Identifier: MIT */
/*
** Counts the memory that the profiler has allocated with malloc and not freed. The library
** profiler.core is linked with --wrap (asamp/build.mk), so that module/ownmalloc.c receives and
** counts its allocation calls. The states of zlib are included (zmemory.h). Allocations inside
** other libraries that the profiler calls are not counted, such as the data of libdw and libunwind
** about native code.
*/
#ifndef asamp_own_h
#define asamp_own_h

#include <stdint.h>

extern int64_t own_count;  /* bytes, as malloc_usable_size returns them; atomic */

/* Returns own_count, in bytes; 0 in a library that is not linked with --wrap. */
uint64_t own_bytes (void);

#endif
