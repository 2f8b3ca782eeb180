/* SPDX-License-Identifier: MIT */
/*
** Protects a thread of the program from cancellation while the profiler blocks, reads or writes
** on it: the thread is inside an allocation, may hold a lock that all others need, and the
** program has not called a cancellation point. UNCANCELLED, among the declarations of a
** function, delays cancellation until the function returns. The function must not be left by
** longjmp.
*/
#ifndef asamp_uncancelled_h
#define asamp_uncancelled_h

#include <pthread.h>

static inline int uncancelled_start (void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

static inline void uncancelled_end (const int *before) {
  pthread_setcancelstate(*before, NULL);
}

#define UNCANCELLED  \
  const int cancelling __attribute__((cleanup(uncancelled_end), unused)) = uncancelled_start()

#endif
