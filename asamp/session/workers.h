/* SPDX-License-Identifier: MIT */
/*
** Threads of the profiler. The child of a fork may forbid itself new threads before it runs Lua
** (servers set RLIMIT_NPROC to 0 and another user): the threads that it will need are made
** right after the fork and parked until there is work. Such a pooled worker is parked again when
** its work has ended. Other workers are threads that end with their work.
**
**   WK1  all signals are blocked in a worker;
**   WK2  a process that has never called workers_park has no parked worker.
*/
#ifndef asamp_workers_h
#define asamp_workers_h

#include <pthread.h>
#include <stddef.h>

/* A thread of the profiler. */
typedef struct Worker {
  struct Worker *next;		/* next parked one */
  pthread_t thread;
  pthread_cond_t wake;
  void *(*run) (void *ud);	/* NULL: parked, or its work has ended */
  void *ud;
  int pooled;			/* 1: it is parked after its work */
} Worker;

/*
** Calls run(ud) on a parked worker, or on a new thread with a stack of 'stack' bytes (if that is
** too small, of the default size). Returns NULL on failure, with an errno in *error.
*/
Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error);

/*
** Waits until the work has ended. Call it once for each worker whose work is not endless.
*/
void workers_join (Worker *w);

/*
** In the child of a fork: forgets the parent's workers and makes n parked ones, as far as the
** system allows.
*/
void workers_park (unsigned n);

#endif
