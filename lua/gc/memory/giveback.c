/* SPDX-License-Identifier: MIT */
/* Returns free memory of malloc to the system (giveback.h). */
#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>

#include "lua.h"

#include "giveback.h"

#if defined(__GLIBC__)
#include <malloc.h>

/* malloc_trim is a weak symbol, because a statically linked program may have another malloc without
   this function. */
#pragma weak malloc_trim

#define trim()	((void)(malloc_trim != NULL && malloc_trim(0)))
#else
#define trim()	((void)0)
#endif

/* malloc_trim is called only if at least this number of bytes was freed since the last call. With a
   lower number, memory is returned earlier, with more calls. */
#define MUCH	((size_t)16 * 1024 * 1024)


/* These two variables are shared by all states of the process. */
/* bytes that states of this process have freed since malloc_trim was last called */
static size_t freed;
/* Time, in milliseconds of CLOCK_MONOTONIC, at which luaN_giveback last called malloc_trim without
   'now', that is, for a caller that need not return the memory at once. */
static unsigned at;


void luaN_countfreed (size_t bytes) {
  __atomic_add_fetch(&freed, bytes, __ATOMIC_RELAXED);
}


int luaN_giveback (unsigned ms, int now) {
  if (__atomic_load_n(&freed, __ATOMIC_RELAXED) < MUCH) return 0;
  if (!now) {
    if (ms - __atomic_load_n(&at, __ATOMIC_RELAXED) < LUAN_UNUSED_MS) return 0;
    __atomic_store_n(&at, ms, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&freed, 0, __ATOMIC_RELAXED);
  trim();
  return 1;
}
