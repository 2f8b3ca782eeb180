/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack that a signal interrupted, in the signal's handler. libunwind's walk of its own
** process cannot be used there: it searches the object file of an address with dl_iterate_phdr,
** which takes a lock of the dynamic loader. That would deadlock if the signal arrived while the
** program takes or releases the lock, or while another thread holds it and waits for a lock of this
** thread.
**
** So this file uses libunwind's walk of a foreign process, with accessors that read this process:
** registers from the handler's context, memory where it is readable (readable.h), and object files
** without the lock (loaded.h). That is slow, so it is used only for frames without a cached rule
** (unwind.h). Missing rules are looked up at the next safepoint.
**
**   BT1  backtrace_take takes no lock that a thread holds while signals are unblocked, and
**        allocates only with mmap. So it may interrupt anything, including other walks by libunwind
**        and another thread's backtrace_take;
**   BT2  backtrace_learn is never interrupted by a backtrace_take of the same Backtrace;
**   BT3  a walk may change at any frame between cached rules and libunwind; both give equal
**        results.
*/
#ifndef asamp_backtrace_h
#define asamp_backtrace_h

#include <ucontext.h>

#include "unwind.h"

#define BACKTRACE_WANTED	64	/* Largest number of return addresses without a cached rule
					   that are recorded between two safepoints, for the lookup
					   there. */
#define BACKTRACE_MAX	1024	/* Largest number of frames of a walk. */

/* The data for the walks of one thread's stack. */
typedef struct Backtrace {
  UnwindRules rules;
  const char *end;		/* End (highest address) of the thread's stack; NULL: unknown. */
  uintptr_t wanted[BACKTRACE_WANTED];
  unsigned nwanted;
#if defined(LUAN_DEBUG)
  void *other[BACKTRACE_MAX];	/* Result of a second walk, by libunwind alone. It is compared with
				   each walk that uses rules (BT3). */
#endif
} Backtrace;

/*
** Initializes the data for the calling thread, whose stack ends at 'end'. The first call also
** allocates data for the process. Returns 0 if there is not enough memory.
*/
int backtrace_open (Backtrace *b, const char *end);

/*
** Stores the interrupted stack in 'to' as return addresses, innermost first, at most BACKTRACE_MAX,
** and returns their number. An interrupted function has no return address. In its place is the
** interrupted address plus 1 or, if an earlier signal interrupted it, the function's start plus 2.
** Async-signal-safe.
*/
int backtrace_take (Backtrace *b, const ucontext_t *context, void **to);

/*
** Looks up and caches the rules that were missing in walks. Returns 1 if any of them was not cached
** yet. Allocates and may block (unwind_learn).
*/
int backtrace_learn (Backtrace *b);

/*
** Returns the start of the function that contains the address, from the tables of its object file.
** Returns the address itself if the tables have no entry for it. Takes no lock. Call
** backtrace_open first.
*/
uintptr_t backtrace_start (uintptr_t address);

#endif
