/* SPDX-License-Identifier: MIT */
/*
** Protects a thread of the program from cancellation while the profiler waits, reads or writes on
** that thread. The program does not expect a cancellation there, for example inside an allocation,
** and may hold a lock that other threads need. UNCANCELLED, among the declarations of a function,
** delays a cancellation until the function returns. The function must not be left by longjmp.
*/
#ifndef asamp_uncancelled_h
#define asamp_uncancelled_h

#include <pthread.h>

/* Disables cancellation of this thread. Returns the previous setting. */
static inline int uncancelled_start (void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

/* Restores the setting that uncancelled_start returned. */
static inline void uncancelled_end (const int *before) {
  pthread_setcancelstate(*before, NULL);
}

#define UNCANCELLED  \
  const int cancelling __attribute__((cleanup(uncancelled_end), unused)) = uncancelled_start()

#endif
