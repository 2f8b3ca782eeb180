/* SPDX-License-Identifier: MIT */
/*
** Memory that an OS thread needs to take time samples: space for a C stack, unwind rules, and a
** cache of function entries. A thread needs this memory once, however many states it runs.
**
**   SC1  an OS thread has at most one Scratch. While the thread lives, no other thread uses it;
**        afterwards another thread may reuse it. It is never freed, because a signal handler may
**        read it;
**   SC2  while a timing_point runs on this thread ('pointing' is set), a tick does no stack walk,
**        but is counted as time of the sampler itself.
*/
#ifndef asamp_scratch_h
#define asamp_scratch_h

#include <stdint.h>

#include "backtrace.h"

/* A cached result: 'start' is the start of the function that contains 'address'. Both are 0 in an
   empty element. */
typedef struct ScratchStart {
  uintptr_t address, start;
} ScratchStart;

#define SCRATCH_STARTS	1024u	/* Number of elements of Scratch.starts, a power of two. */

/* Memory with which one OS thread takes time samples. */
typedef struct Scratch {
  /* Next in the list of unused Scratches: their threads have ended. */
  struct Scratch *next;
  struct Scratch *before;	/* Scratch allocated before this one. The chain keeps all of them
				   reachable, so that none is reported as a leak. */
  void *volatile pointing;	/* The Timing whose timing_point is running on this thread; NULL:
				   none. */
  int ready;			/* 1: 'backtrace' was initialized by backtrace_open. */
  Backtrace backtrace;
  void *stack[BACKTRACE_MAX];	/* Return addresses found by the signal handler. */
  ScratchStart starts[SCRATCH_STARTS];
} Scratch;

/* Returns this thread's Scratch; NULL: it has none. Async-signal-safe. */
Scratch *scratch_mine (void);

/*
** Returns this thread's Scratch, and allocates it at the first call. If 'native' is 1, also opens
** its 'backtrace'. Returns NULL if there is not enough memory.
*/
Scratch *scratch_open (int native);

#endif
