/* SPDX-License-Identifier: MIT */
/* Returns free memory of malloc to the system (giveback.h). */
#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>

#include "lua.h"

#include "giveback.h"

#if defined(__GLIBC__)
#include <malloc.h>

/* A weak symbol: a statically linked program may have a malloc without this function. */
#pragma weak malloc_trim

#define trim()	((void)(malloc_trim != NULL && malloc_trim(0)))
#else
#define trim()	((void)0)
#endif

/* Bytes that must have been freed since the last call of malloc_trim. A lower number returns memory
   earlier, with more calls. */
#define MUCH	((size_t)16 * 1024 * 1024)


/* All states of the process share the two following variables. */
/* bytes freed since malloc_trim was last called */
static size_t freed;
/* milliseconds of CLOCK_MONOTONIC when luaN_giveback with 'now' 0 has last called malloc_trim */
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
