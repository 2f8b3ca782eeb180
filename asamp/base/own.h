/* SPDX-License-Identifier: MIT */
/* Counts the memory that the profiler has allocated with malloc and not freed: the linker option
   --wrap directs calls of malloc in profiler.core to module/ownmalloc.c. Includes the memory of
   zlib (zmemory.h), not of other libraries. */
#ifndef asamp_own_h
#define asamp_own_h

#include <stdint.h>

/* The counted bytes, as malloc_usable_size returns them for each block. Atomic. */
extern int64_t own_count;

/* Returns the number of counted bytes; 0 in a program linked without --wrap. */
uint64_t own_bytes (void);

#endif
