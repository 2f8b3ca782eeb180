/* SPDX-License-Identifier: MIT */
/*
** Threads of the profiler. A forked child may be unable to make threads later, because some servers
** set RLIMIT_NPROC to 0 after the fork. So the child's threads are made in the fork handler and
** parked: they wait for work.
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
  void *(*run) (void *ud);	/* pooled worker: function to run; NULL: none, the worker waits */
  void *ud;
  int pooled;			/* 1: after its function, the thread waits for another function; 0:
				   the thread ends */
} Worker;

/* Runs run(ud) on a parked worker, or on a new thread with a stack of 'stack' bytes. Returns
   NULL with an errno in *error on failure. */
Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error);

/* Waits until the worker's function has returned. Then parks the worker for workers_start if
   w->pooled is 1; else frees *w. */
void workers_join (Worker *w);

/* Makes n parked workers in a forked child, where the parent's workers do not exist. */
void workers_park (unsigned n);

#endif
