/* SPDX-License-Identifier: MIT */
/*
** Thread-local variables of other libraries. If a library was loaded while the process ran, the
** loader allocates its variables with malloc when a thread first uses one. Without memory it
** ends the process with status 127 and "cannot allocate memory for thread-local data". So before
** a thread uses such a library for the first time, threadlocals_room is called.
*/
#ifndef asamp_threadlocals_h
#define asamp_threadlocals_h

#include <stdlib.h>

#define THREADLOCALS_BYTES	16384	/* more bytes than libdw, libelf and libunwind need */

/* Returns 1 if there is enough memory for the variables at present. Calls malloc. */
static inline int threadlocals_room (void) {
  void *volatile some = malloc(THREADLOCALS_BYTES);
  free(some);
  return some != NULL;
}

#endif
