/* SPDX-License-Identifier: MIT */
/* Keeps one freed block at the end of malloc's heap, and returns free memory to the system
   (giveback.h). */

#include <stdlib.h>
#include <unistd.h>

#include "lua.h"

#include "giveback.h"

/* A weak symbol: NULL if the program's malloc is not that of the GNU C library. */
extern int malloc_trim (size_t pad) __attribute__((weak));

/* luaN_giveback calls malloc_trim only if this number of bytes was freed since the last call. A
   lower number returns memory earlier, with more calls. */
#define MUCH	((size_t)16 * 1024 * 1024)


/* {== the kept block ==================================================== */

/* The one freed block that the process keeps, so that malloc does not return the end of its heap to
   the system. Only the OS thread that has taken the flag 'busy' may use this struct. An OS thread
   never waits for the flag: if another one has it, the offered block is freed at once. */
static struct {
  /* 1: an OS thread uses this struct (luaN_hold) */
  int busy;
  /* The block at the end of malloc's heap that a state has freed, but that is not passed to free
     yet (luaN_keepend); NULL: none. */
  char *last;
  /* time at which luaN_keepend last received a block of malloc's heap, in milliseconds of
     CLOCK_MONOTONIC */
  unsigned at;
} stays;


void *luaN_keepend (void *p, unsigned ms) {
  /* A block above the program break is a mapping or in another arena of malloc. */
  if ((char *)p >= (char *)sbrk(0) || !luaN_hold(&stays.busy)) return p;
  stays.at = ms;
  if ((char *)p > stays.last) {
    void *before = stays.last;
    __atomic_store_n(&stays.last, (char *)p, __ATOMIC_RELAXED);
    p = before;
  }
  luaN_letgo(&stays.busy);
  return p;
}


void *luaN_takeend (unsigned ms, int now) {
  void *p = NULL;
  if (__atomic_load_n(&stays.last, __ATOMIC_RELAXED) == NULL || !luaN_hold(&stays.busy))
    return NULL;
  if (now || ms - stays.at >= LUAN_UNUSED_MS) {
    p = stays.last;
    __atomic_store_n(&stays.last, NULL, __ATOMIC_RELAXED);
  }
  luaN_letgo(&stays.busy);
  return p;
}

/* }===================================================================== */


/* {== malloc_trim ======================================================= */

/* The variables 'freed' and 'at' belong to the process, not to one state. */
/* bytes that all states have freed since luaN_giveback last called malloc_trim */
static size_t freed;
/* time of the last call luaN_giveback(ms, 0) that called malloc_trim, in milliseconds of
   CLOCK_MONOTONIC */
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
  if (malloc_trim != NULL) malloc_trim(0);
  return 1;
}

/* }===================================================================== */
