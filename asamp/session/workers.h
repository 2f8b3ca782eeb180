/* SPDX-License-Identifier: MIT */
/*
** Threads of the profiler. The child of a fork may be unable to make threads later, because a
** server sets RLIMIT_NPROC to 0. So its threads are made right after the fork and parked: they wait
** for work.
**
**   WK1  all signals are blocked in a worker;
**   WK2  a process that has never called workers_park has no parked worker.
*/
#ifndef asamp_workers_h
#define asamp_workers_h

#include <pthread.h>
#include <stddef.h>

/* A thread that runs one function at a time. */
typedef struct Worker {
  struct Worker *next;		/* next parked worker */
  pthread_t thread;
  pthread_cond_t wake;
  void *(*run) (void *ud);	/* function to run; NULL: parked */
  void *ud;
  int pooled;			/* 1: workers_join parks the thread for reuse; 0: frees it */
} Worker;

/* Runs run(ud) on a parked worker, or on a new thread with a stack of 'stack' bytes. Returns
   NULL with an errno in *error on failure. */
Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error);

/* Waits until the worker's function has returned. Then parks or frees the worker
   (Worker.pooled). */
void workers_join (Worker *w);

/* Drops the parent's workers and makes n parked ones, in a forked child. */
void workers_park (unsigned n);

#endif
