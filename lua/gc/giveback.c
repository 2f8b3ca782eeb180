/* SPDX-License-Identifier: MIT */
/*
** What malloc keeps free goes back to the system (giveback.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>

#include "lua.h"

#include "giveback.h"

#if defined(__GLIBC__)
#include <malloc.h>

/* Who links statically may have another malloc, which has no such function. */
#pragma weak malloc_trim

#define trim()	((void)(malloc_trim != NULL && malloc_trim(0)))
#else
#define trim()	((void)0)
#endif

/* So many bytes are worth it. */
#define MUCH	((size_t)16 * 1024 * 1024)

/* So long what goes back without being asked for stays away. */
#define GONE_MS	1000u

/* Of the process. */
static size_t freed;		/* bytes, since the last time */
static unsigned at;		/* milliseconds: the last time that was not asked for */


void luaN_countfreed (size_t bytes) {
  __atomic_add_fetch(&freed, bytes, __ATOMIC_RELAXED);
}


int luaN_giveback (unsigned ms, int now) {
  if (__atomic_load_n(&freed, __ATOMIC_RELAXED) < MUCH) return 0;
  if (!now) {
    if (ms - __atomic_load_n(&at, __ATOMIC_RELAXED) < GONE_MS) return 0;
    __atomic_store_n(&at, ms, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&freed, 0, __ATOMIC_RELAXED);
  trim();
  return 1;
}
