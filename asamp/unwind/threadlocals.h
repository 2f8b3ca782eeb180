/* SPDX-License-Identifier: MIT */
/* Checks that there is memory for the thread-local variables of other libraries. The loader
   allocates a library's variables when a thread uses one of them for the first time, and ends the
   process if out of memory. So call threadlocals_room before the first use. */
#ifndef asamp_threadlocals_h
#define asamp_threadlocals_h

#include <stdlib.h>

#define THREADLOCALS_BYTES	16384	/* more than the thread-local variables of libdw, libelf and
                                           libunwind need */

/* Returns 1 if malloc can allocate THREADLOCALS_BYTES now. */
static inline int threadlocals_room (void) {
  void *volatile some = malloc(THREADLOCALS_BYTES);
  free(some);
  return some != NULL;
}

#endif
