/* SPDX-License-Identifier: MIT */
/*
** Memory that an OS thread needs for time samples: return addresses of a C stack, and unwind rules.
**
**   SC1  an OS thread has at most one Scratch. It is never freed, because a signal handler may
**        read it; another thread may reuse it after the thread's end;
**   SC2  while 'pointing' is not NULL, the thread is processing earlier ticks (signals of the
**        sampling timer). A new tick then walks no stack, and its time counts as the sampler's own.
*/
#ifndef asamp_scratch_h
#define asamp_scratch_h

#include "backtrace.h"

/* The memory that one OS thread uses to take time samples. */
typedef struct Scratch {
  /* Next in the list of unused Scratches. */
  struct Scratch *next;
  struct Scratch *before;	/* Scratch allocated before this one. These links keep each
                                   Scratch reachable, so that a leak checker reports none. */
  void *volatile pointing;	/* The Timing (sampler of one state) whose timing_point runs on this
                                   thread, or NULL. */
  int ready;			/* 1: 'backtrace' is initialized. */
  Backtrace backtrace;
  void *stack[BACKTRACE_MAX];	/* Return addresses found by the signal handler. */
} Scratch;

/* Returns this thread's Scratch; NULL: it has none. Async-signal-safe. */
Scratch *scratch_mine (void);

/* Returns this thread's Scratch; allocates it if needed. 'native' 1: also initializes 'backtrace'.
   Returns NULL if out of memory. */
Scratch *scratch_open (int native);

#endif
