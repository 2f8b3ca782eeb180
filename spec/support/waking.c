/* SPDX-License-Identifier: MIT */
/*
** waking: to be preloaded (LD_PRELOAD). The process exits, with status 7, in the midst of
** the n-th signal of a condition, n from WAKING_AT: that is where a handler may have
** interrupted it. A condition that is signalled within its own signal waits for ever; the
** process ends with status 99 in its place.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static __thread pthread_cond_t *within;

int pthread_cond_signal (pthread_cond_t *c) {
  static int (*next) (pthread_cond_t *);
  static long count;
  const char *at = getenv("WAKING_AT");
  if (next == NULL)
    next = (int (*) (pthread_cond_t *))dlsym(RTLD_NEXT, "pthread_cond_signal");
  if (c == within) _exit(99);
  if (at != NULL && __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == atol(at)) {
    within = c;
    exit(7);
  }
  return next(c);
}
