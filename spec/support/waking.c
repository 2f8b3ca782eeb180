/* SPDX-License-Identifier: MIT */
/*
** waking: a library for LD_PRELOAD. The n-th call of pthread_cond_signal, where n is the value of
** the environment variable WAKING_AT, calls exit(7), as a signal handler may do that interrupts
** this function. If exit then signals the same condition, it would block forever; instead the
** process ends with status 99.
**
** The environment variable TERM_AT may name a function, "pthread_create" or "listen". Then the
** process receives SIGTERM before each call of it.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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


static void *called (const char *name) {
  const char *at = getenv("TERM_AT");
  if (at != NULL && strcmp(at, name) == 0) kill(getpid(), SIGTERM);
  return dlsym(RTLD_NEXT, name);
}


int pthread_create (pthread_t *thread, const pthread_attr_t *a, void *(*f) (void *), void *ud) {
  int (*next) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
  next = (int (*) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *))
         called("pthread_create");
  return next(thread, a, f, ud);
}


int listen (int fd, int n) {
  int (*next) (int, int) = (int (*) (int, int))called("listen");
  return next(fd, n);
}
