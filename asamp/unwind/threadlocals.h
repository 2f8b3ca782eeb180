/* SPDX-License-Identifier: MIT */
/*
** Ensures that there is memory for the thread-local variables of other libraries. If a library was
** loaded while the process ran, the loader allocates these variables with malloc when a thread
** first uses one. If there is not enough memory, the loader ends the process with status 127 and
** "cannot allocate memory for thread-local data". Therefore threadlocals_room is called before a
** thread uses such a library for the first time.
*/
#ifndef asamp_threadlocals_h
#define asamp_threadlocals_h

#include <stdlib.h>

#define THREADLOCALS_BYTES	16384	/* more bytes than the variables of libdw, libelf and
					   libunwind take */

/* Returns 1 if malloc can allocate THREADLOCALS_BYTES at present. */
static inline int threadlocals_room (void) {
  void *volatile some = malloc(THREADLOCALS_BYTES);
  free(some);
  return some != NULL;
}

#endif
