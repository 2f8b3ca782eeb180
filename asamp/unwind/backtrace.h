/* SPDX-License-Identifier: MIT */
/*
** Walks, in a signal handler, the C stack that the signal interrupted. The usual walk of libunwind
** takes the dynamic loader's lock, which could deadlock in a signal handler. So this file uses
** cached rules (unwind.h). For a frame without a cached rule it uses libunwind's walk of a foreign
** process, with accessors that read this process without locks (readable.h, loaded.h). Missing
** rules are looked up later (backtrace_learn), outside of signal handlers.
**
**   BT1  backtrace_take may interrupt anything. It allocates only with mmap. It takes only locks
**        whose holder blocks all signals, so that the interrupted code never holds one;
**   BT2  backtrace_learn is never interrupted by a backtrace_take of the same Backtrace;
**   BT3  a walk may change from rules to libunwind or back at any frame: both find the same caller.
*/
#ifndef asamp_backtrace_h
#define asamp_backtrace_h

#include <ucontext.h>

#include "unwind.h"

/* Capacity of Backtrace.wanted, the list of code addresses for which walks found no cached rule.
   backtrace_learn looks up their rules. */
#define BACKTRACE_WANTED	64
#define BACKTRACE_MAX	1024	/* largest number of frames of a walk; the outer frames of a deeper
                                   stack are missing */

/* The data for walks of one thread's stack. */
typedef struct Backtrace {
  UnwindRules rules;
  const char *end;		/* highest address of the stack; NULL: unknown */
  uintptr_t wanted[BACKTRACE_WANTED];
  unsigned nwanted;
#if defined(LUAN_DEBUG)
  void *other[BACKTRACE_MAX];	/* return addresses found by a walk only with libunwind, to check a
                                   walk that has used cached rules */
#endif
} Backtrace;

/* Initializes the data for walks of a thread's stack, whose highest address is 'end'; NULL:
   unknown. The caller may set b->end later. *b must be all zero, or the data of a thread that has
   ended; in that case the cached rules are kept. Returns 0 if out of memory. */
int backtrace_open (Backtrace *b, const char *end);

/* Stores the interrupted stack as return addresses, innermost first, at most BACKTRACE_MAX. Returns
   their number. Async-signal-safe.

   Two kinds of functions have no return address, because they have made no call. Their addresses
   are chosen so that readers can subtract 1 as from a return address. The innermost function has
   the address of the interrupted instruction + 1. A function that an earlier signal interrupted has
   the address of its start + 2 (see the function 'within' of backtrace.c). */
int backtrace_take (Backtrace *b, const ucontext_t *context, void **to);

/* Looks up and caches the rules of the addresses in b->wanted. Returns 1 if it added rules to the
   cache. Allocates and may block. */
int backtrace_learn (Backtrace *b);

/* Returns the start of the function that contains 'address', or 'address' if the function is
   unknown. Takes no lock. Call backtrace_open first. */
uintptr_t backtrace_start (uintptr_t address);

#endif
