/* SPDX-License-Identifier: MIT */
/*
** The C stack that a signal has interrupted, walked in its handler. libunwind's
** walk of the process's own stacks asks the loader which object file an address is
** in (dl_iterate_phdr), and the loader takes a lock for that: a signal that comes
** while the program takes or gives back the same lock, or while another thread has
** it and waits for one of this thread's, would wait for ever. So the walk here is
** libunwind's of a foreign process, with accessors that read this one: the
** registers are those of the handler's context, memory is read where it can be
** (readable.h), and the object file is told by _dl_find_object of glibc 2.35, which
** is made for signal handlers. Such a walk is slow: where there are rules (unwind.h)
** it is by these, and those that were missing are looked up at the next point.
**
**   BT1  backtrace_take takes no lock that a thread holds with signals on, and
**        allocates by mmap only: it may interrupt anything, libunwind's walks of
**        the other kind too, and another thread's backtrace_take;
**   BT2  backtrace_learn is never interrupted by a backtrace_take of the same
**        Backtrace;
**   BT3  rules and libunwind go on from each other's frames, and tell the same.
*/
#ifndef asamp_backtrace_h
#define asamp_backtrace_h

#include <ucontext.h>

#include "unwind.h"

#define BACKTRACE_WANTED	64	/* rules that are asked for between two points */
#define BACKTRACE_MAX	1024	/* frames that are told */

typedef struct Backtrace {
  UnwindRules rules;
  const char *end;		/* of the thread's stack; NULL: not known */
  uintptr_t wanted[BACKTRACE_WANTED];
  unsigned nwanted;
#if defined(LUAN_DEBUG)
  void *other[BACKTRACE_MAX];	/* a walk without rules: every walk is checked (BT3) */
#endif
} Backtrace;

/*
** For stacks of the calling thread, which ends at 'end'. 0: no memory. Does once for
** all of the process what allocates.
*/
int backtrace_open (Backtrace *b, const char *end);

/*
** The stack of what a signal has interrupted, as return addresses, innermost first:
** of what ran itself the address behind the one where it was, of what the signal of
** another handler has interrupted one near its function's beginning. Returns how many
** there are, BACKTRACE_MAX at most. In a signal handler.
*/
int backtrace_take (Backtrace *b, const ucontext_t *context, void **to);

/* Looks up rules that were missing; returns whether there were any. Allocates, and may wait
   (unwind_learn). */
int backtrace_learn (Backtrace *b);

/* Where the function begins that has this address in its code, by its library's tables; the
   address itself where they do not tell. After the first backtrace_open; takes no lock. */
uintptr_t backtrace_begin (uintptr_t address);

#endif
