/* SPDX-License-Identifier: MIT */
/*
** Makes and parks the threads of the profiler. The child of a fork may be unable to make threads
** before it runs Lua, because a server sets RLIMIT_NPROC to 0 and changes the user. So the threads
** that it will need are made right after the fork, and are parked until there is work. Such a
** worker is 'pooled': workers_join parks it again. The thread of any other worker ends with its
** work.
**
**   WK1  all signals are blocked in a worker;
**   WK2  a process that has never called workers_park has no parked worker.
*/
#ifndef asamp_workers_h
#define asamp_workers_h

#include <pthread.h>
#include <stddef.h>

/* A thread of the profiler, for one call of a function at a time. */
typedef struct Worker {
  struct Worker *next;		/* next worker in the list of parked workers, which wait for later
			   work */
  pthread_t thread;
  pthread_cond_t wake;
  void *(*run) (void *ud);	/* function to run; NULL for a pooled worker that is parked or
				   whose work has ended */
  void *ud;
  int pooled;			/* 1: workers_join keeps the thread for later work (parks it); 0:
			   workers_join frees it */
} Worker;

/*
** Calls run(ud) on a parked worker or, if there is none, on a new thread with a stack of 'stack'
** bytes. If the system rejects 'stack', the stack has the default size. Returns NULL on failure,
** with an errno in *error.
*/
Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error);

/*
** Waits until the worker's work has ended, and then parks or frees the worker. Call it once for
** each call of workers_start.
*/
void workers_join (Worker *w);

/*
** In the child of a fork: forgets the parent's workers and makes n parked ones, as far as the
** system allows.
*/
void workers_park (unsigned n);

#endif
