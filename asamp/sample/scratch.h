/* SPDX-License-Identifier: MIT */
/*
** Memory that an OS thread needs to take time samples, independent of the number of states that
** it runs: space for a C stack, unwind rules, and a cache of function entries.
**
**   SC1  an OS thread has at most one Scratch, exclusively while the thread lives; then another
**        thread may reuse it. It is never freed, because a signal handler may read it;
**   SC2  while 'pointing' is set, a tick on this thread does no stack walk.
*/
#ifndef asamp_scratch_h
#define asamp_scratch_h

#include <stdint.h>

#include "backtrace.h"

/* Start of the function that contains 'address'; both 0: an empty element. */
typedef struct ScratchStart {
  uintptr_t address, start;
} ScratchStart;

#define SCRATCH_STARTS	1024u	/* Elements of 'starts', a power of two. */

/* The memory of one OS thread. */
typedef struct Scratch {
  struct Scratch *next;		/* Next Scratch without a thread. */
  struct Scratch *before;	/* Scratch allocated before this one: keeps all of them
				   reachable, so that none is reported as a leak. */
  void *volatile pointing;	/* Timing whose timing_point is running on this thread; NULL:
				   none. */
  int ready;			/* 1: 'backtrace' is open. */
  Backtrace backtrace;
  void *stack[BACKTRACE_MAX];	/* Return addresses found by the signal handler. */
  ScratchStart starts[SCRATCH_STARTS];
} Scratch;

/* Returns this thread's Scratch; NULL: it has none. Async-signal-safe. */
Scratch *scratch_mine (void);

/*
** Returns this thread's Scratch and makes it if needed. 'native' 1: opens its 'backtrace', too.
** Returns NULL if there is not enough memory.
*/
Scratch *scratch_open (int native);

#endif
