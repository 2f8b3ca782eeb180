/* SPDX-License-Identifier: MIT */
/*
** Threads of the profiler. The child of a fork may forbid itself new threads before it runs
** Lua (RLIMIT_NPROC 0 and another user, as servers do): threads that it will need are made
** right after the fork, and parked until there is work. A worker whose work has ended is
** parked again. Elsewhere each work has a thread of its own, which ends with it.
**   WK1  all signals are blocked in a worker;
**   WK2  a process that has never called workers_park has no parked worker.
*/
#ifndef asamp_workers_h
#define asamp_workers_h

#include <pthread.h>
#include <stddef.h>

typedef struct Worker {
  struct Worker *next;		/* in the list of parked ones */
  pthread_t thread;
  pthread_cond_t wake;
  void *(*run) (void *ud);	/* NULL: it is parked, or its work has ended */
  void *ud;
  int pooled;			/* it is parked after its work */
} Worker;

/* Calls run(ud) on a thread whose stack has 'stack' bytes, or the default if these are too
   few. Returns NULL and an errno in '*error' if there is none. */
Worker *workers_start (void *(*run) (void *ud), void *ud, size_t stack, int *error);

/* Waits until that work has ended. To be called once for each worker of workers_start,
   unless its work never ends. */
void workers_join (Worker *w);

/* In the child of a fork: forgets the parent's workers and makes n parked ones, as far as
   the system allows. */
void workers_park (unsigned n);

#endif
