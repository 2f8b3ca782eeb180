/* SPDX-License-Identifier: MIT */
/*
** Where the profiler waits, reads or writes on a thread of the program's, that thread must not
** end: it is in the midst of an allocation, may have a lock that all others need, and the
** program has called no function that pthread_cancel knows. UNCANCELLED, among the variables
** of a function, puts a request to end off until the function returns. It must not be left by
** a jump.
*/
#ifndef asamp_uncancelled_h
#define asamp_uncancelled_h

#include <pthread.h>

static inline int uncancelled_begin (void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void uncancelled_end (const int *before) {
  pthread_setcancelstate(*before, NULL);
}

#define UNCANCELLED  \
  const int cancelling __attribute__((cleanup(uncancelled_end), unused)) = uncancelled_begin()

#endif
