/* SPDX-License-Identifier: MIT */
/*
** Walks of the C stack. How the frame of a call site is left (where the caller's
** frame begins, where its frame pointer was saved) is looked up once in the
** object file's unwind tables and kept: a frame costs some 15 instructions then,
** where libunwind takes over a hundred. Rules are DWARF's call frame
** information; those kept are of the kind compilers make for almost all code of
** x86-64 and aarch64: the frame begins a fixed way from the stack or the frame pointer.
**
**   UW1  what comes out is what libunwind would tell. A call site of any other
**        kind (a signal's frame, a frame whose place is computed, code without
**        tables), another processor: the stack is left to libunwind, all of it;
**   UW2  a walk goes outwards only and stays inside of the thread's stack; in a signal
**        handler, where tables may be wrong, where memory can be read (readable.h);
**   UW3  rules are forgotten when a lookup finds that object files were loaded.
**        Of code that was unloaded since, none is asked for.
** In a signal handler nothing is looked up: see backtrace.h.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

#define UNWIND_LOG	13	/* of the number of rules */
#define UNWIND_NEAR	8	/* a rule is one of so many, from where its hash says */
#define UNWIND_OWN	32	/* frames inside of where a walk begins, at most */

/* How a frame is left; 'ip', a return address, is its call site. */
typedef struct UnwindRule {
  uintptr_t ip;			/* 0: empty */
  int32_t size;			/* from the base to the caller's frame; */
  int16_t saved;		/* from there to the saved frame pointer; 0: it
				   is in the register still */
  unsigned char base;		/* NativeBase */
} UnwindRule;

/* What has been looked up. All zero at first. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* native_frame's, when they were looked up */
  unsigned turn;		/* of those near, whose place is taken next */
} UnwindRules;

/* A frame: its call site, the stack pointer and the frame pointer there. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* ip 0: there is none */
} UnwindFrame;

/* A walk that is under way. All zero at first. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* the frame that comes next */
  const char *from, *to;	/* the walk begins in this code */
  const char *end;		/* of the thread's stack */
  int otherwise;		/* it is libunwind's */
  int ended;			/* there are no more frames */
} Unwind;

/* A return address that libunwind tells: some of its versions tell the byte before it on
   aarch64, whose instructions have four. */
#if defined(__aarch64__)
#define UNWIND_TOLD(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_TOLD(ip)	((uintptr_t)(ip))
#endif

/*
** Makes libunwind initialise itself, which touches 300 KB, and open the descriptors that it
** keeps, none of them a standard stream. Does nothing when it was called before. Walks that need
** libunwind call it; before a handler's first walk its owner does.
*/
void unwind_prime (void);

/*
** Begins a walk of the calling thread's stack, which ends at 'end' (NULL: it is not
** known), at its innermost frame in the code from 'from' to 'to', which stays until
** the walk is over. Allocates, and may wait for another thread that looks names up;
** so do the calls that follow.
*/
void unwind_begin (Unwind *u, const char *from, const char *to, const char *end);

/*
** Goes on: behind the n return addresses in 'addresses', which have been told, come
** some more of them, outwards. Returns how many there are then: n at the end, or
** where there is no room. 'addresses' has room for 'room', more than UNWIND_OWN;
** that many of it are not used for addresses that are told.
*/
int unwind_more (Unwind *u, void **addresses, int n, int room);

/* Looks up the rule of a return address for which none was looked up yet; else returns 0. As
   unwind_begin. */
int unwind_learn (UnwindRules *u, uintptr_t ip);

/*
** Goes outwards from frame *f of a stack that ends at 'end', by rules that are there:
** tells return addresses, '*f' being the first, 'max' at most, and returns how many.
** Then *f comes next; where it has no rule, and not yet 'max' are told, that is why.
** Safe in a signal handler that has not interrupted unwind_learn of these rules.
*/
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
