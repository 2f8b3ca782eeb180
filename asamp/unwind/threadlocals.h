/* SPDX-License-Identifier: MIT */
/*
** Thread-local variables of other libraries. Those of a library that was loaded while the
** process ran are made by the loader, with malloc, when a thread first uses one; without
** memory it ends the process, with status 127 and "cannot allocate memory for thread-local
** data". So whoever calls such a library on a thread for the first time asks here before.
*/
#ifndef asamp_threadlocals_h
#define asamp_threadlocals_h

#include <stdlib.h>

#define THREADLOCALS_BYTES	16384	/* more than libdw, libelf and libunwind need */

/* Is there memory for them? 0: not now. For where malloc may be called. */
static inline int threadlocals_room (void) {
  void *volatile some = malloc(THREADLOCALS_BYTES);
  free(some);
  return some != NULL;
}

#endif
