/* SPDX-License-Identifier: MIT */
/* Makes, parks and joins threads (workers.h). */
#include "workers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define PARKED_STACK	(1u << 20)	/* stack of a parked thread, bytes; equal to WRITER_STACK */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static Worker *parked;

/* Main function of a parked worker. */
static void *wait (void *ud) {
  Worker *w = ud;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (w->run == NULL) pthread_cond_wait(&w->wake, &lock);
    pthread_mutex_unlock(&lock);
    w->run(w->ud);
    pthread_mutex_lock(&lock);
    w->run = NULL;
    pthread_cond_broadcast(&ended);
  }
  return NULL;
}

/* Makes a thread with all signals blocked. Returns an errno, or 0. */
static int workers_make (pthread_t *thread, size_t stack, void *(*run) (void *ud), void *ud) {
  sigset_t all, before;
  pthread_attr_t a;
  int error;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, stack);
  error = pthread_create(thread, &a, run, ud);
  if (error == EINVAL)  /* 'stack' is too small for the program's thread-local variables */
    error = pthread_create(thread, NULL, run, ud);
  pthread_attr_destroy(&a);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

static Worker *unpark (void *(*run) (void *ud), void *ud) {
  Worker *w;
  pthread_mutex_lock(&lock);
  w = parked;
  if (w != NULL) {
    parked = w->next;
    w->ud = ud;
    w->run = run;
    pthread_cond_signal(&w->wake);
  }
  pthread_mutex_unlock(&lock);
  return w;
}

Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error) {
  Worker *w = unpark(run, ud);
  *error = ENOMEM;
  if (w != NULL || (w = calloc(1, sizeof(*w))) == NULL) return w;
  *error = workers_make(&w->thread, stack, run, ud);
  if (*error == 0) return w;
  free(w);
  return NULL;
}

void workers_join (Worker *w) {
  if (!w->pooled) {
    pthread_join(w->thread, NULL);
    free(w);
    return;
  }
  pthread_mutex_lock(&lock);
  while (w->run != NULL) pthread_cond_wait(&ended, &lock);
  w->next = parked;
  parked = w;
  pthread_mutex_unlock(&lock);
}

void workers_park (unsigned n) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&ended, NULL);
  for (parked = NULL; n > 0; n--) {
    Worker *w = calloc(1, sizeof(*w));
    if (w == NULL) return;
    w->pooled = 1;
    pthread_cond_init(&w->wake, NULL);
    if (workers_make(&w->thread, PARKED_STACK, wait, w) != 0) {
      free(w);
      return;
    }
    w->next = parked;
    parked = w;
  }
}
