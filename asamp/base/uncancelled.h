/* SPDX-License-Identifier: MIT */
/* Delays thread cancellation while the profiler waits or does I/O on a thread of the program. The
   program does not expect a cancellation there, and may hold locks. A function that has UNCANCELLED
   among its declarations is not cancelled until it returns. It must not be left by longjmp. */
#ifndef asamp_uncancelled_h
#define asamp_uncancelled_h

#include <pthread.h>

/* Disables cancellation of this thread. Returns the previous setting. */
static inline int uncancelled_start (void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

/* Restores the cancellation setting *before, a result of uncancelled_start. */
static inline void uncancelled_end (const int *before) {
  pthread_setcancelstate(*before, NULL);
}

#define UNCANCELLED  \
  const int cancelling __attribute__((cleanup(uncancelled_end), unused)) = uncancelled_start()

#endif
