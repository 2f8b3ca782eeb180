/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack that a signal interrupted, in its handler. When libunwind walks the stack of
** its own process, it searches the object file of an address with dl_iterate_phdr, which takes a
** lock of the dynamic loader. A handler that does this would deadlock if its signal arrives while
** the program takes or releases that lock, or while another thread holds it and waits for a lock
** of this thread. So this file uses libunwind's walk of a foreign process, with accessors that read
** this process: registers from the handler's context, memory where it is readable (readable.h),
** and object files without the lock (loaded.h). Such a walk is slow, so a frame that has a rule
** (unwind.h) is left by its rule; missing rules are looked up at the next safepoint.
**
**   BT1  backtrace_take takes no lock that a thread holds while signals are unblocked, and
**        allocates with mmap only: it may interrupt anything, including libunwind's other walks
**        and another thread's backtrace_take;
**   BT2  backtrace_learn is never interrupted by a backtrace_take of the same Backtrace;
**   BT3  rules and libunwind continue from each other's frames, and give equal results.
*/
#ifndef asamp_backtrace_h
#define asamp_backtrace_h

#include <ucontext.h>

#include "unwind.h"

#define BACKTRACE_WANTED	64	/* Largest number of missing rules recorded between
					   two safepoints. */
#define BACKTRACE_MAX	1024	/* Largest number of frames of a walk. */

/* Data for the walks of one thread. */
typedef struct Backtrace {
  UnwindRules rules;
  const char *end;		/* End (highest address) of the thread's stack; NULL: unknown. */
  uintptr_t wanted[BACKTRACE_WANTED];
  unsigned nwanted;
#if defined(LUAN_DEBUG)
  void *other[BACKTRACE_MAX];	/* Result of a walk without rules, to check BT3 after every walk. */
#endif
} Backtrace;

/*
** Initializes the data for the calling thread, whose stack ends at 'end'. The first call also
** allocates data for the process. Returns 0 if there is not enough memory.
*/
int backtrace_open (Backtrace *b, const char *end);

/*
** Stores the interrupted stack as return addresses, innermost first, at most BACKTRACE_MAX, and
** returns their number. For the interrupted function, stores the interrupted address plus 1; for a
** function that another signal interrupted, the function's start plus 2. Async-signal-safe.
*/
int backtrace_take (Backtrace *b, const ucontext_t *context, void **to);

/*
** Looks up the missing rules. Returns 1 if any was still missing. Allocates and may block
** (unwind_learn).
*/
int backtrace_learn (Backtrace *b);

/*
** Returns the start of the function that contains the address, from the tables of its object
** file; the address itself if the tables have no entry. Requires an earlier backtrace_open; takes
** no lock.
*/
uintptr_t backtrace_start (uintptr_t address);

#endif
