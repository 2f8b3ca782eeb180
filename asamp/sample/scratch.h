/* SPDX-License-Identifier: MIT */
/*
** What an OS thread needs to take samples of time, whatever the number of states that
** it runs: room for a C stack, rules to walk it by, and where procedures begin.
**
**   SC1  an OS thread has one at most, which is nobody else's while the thread lives,
**        and the next thread's after that: it is never freed, for a signal handler may
**        look at it;
**   SC2  while 'pointing' is set a tick of this thread walks nothing.
*/
#ifndef asamp_scratch_h
#define asamp_scratch_h

#include <stdint.h>

#include "backtrace.h"

/* Where the procedure around an address begins; 0: an empty entry. */
typedef struct ScratchStart {
  uintptr_t address, start;
} ScratchStart;

#define SCRATCH_STARTS	1024u	/* entries of their cache, a power of two */

typedef struct Scratch {
  struct Scratch *next;		/* of those that are nobody's */
  struct Scratch *before;	/* made before this one: what is never freed is not lost */
  void *volatile pointing;	/* whose timing_point runs; NULL: none */
  int ready;			/* the backtrace is open */
  Backtrace backtrace;
  void *stack[BACKTRACE_MAX];	/* of the handler */
  ScratchStart starts[SCRATCH_STARTS];
} Scratch;

/* This thread's, in a signal handler too; NULL: it has none. */
Scratch *scratch_mine (void);

/* This thread's, made if it has none; 'native': with C stacks. NULL: no memory. */
Scratch *scratch_open (int native);

#endif
