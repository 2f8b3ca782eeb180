/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack with cached rules. The rule of a call site describes how to leave its frame:
** where the caller's frame starts, and where its frame pointer is saved. It is looked up once in
** the unwind tables (DWARF); then a frame costs about 15 instructions, a tenth of libunwind. Rules
** cover the usual frames of x86-64 and aarch64.
**
**   UW1  the result equals libunwind's, which does the walk if a frame has another form (signal
**        frames, code without tables);
**   UW2  a walk only goes outwards and stays inside the thread's stack. In a signal handler it
**        reads only readable memory (readable.h);
**   UW3  when a lookup finds that object files were loaded, all rules are dropped. Before, rules
**        of unloaded code may give wrong callers, but UW2 holds. A walk does not check it, because
**        that takes the loader's lock.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

#define UNWIND_LOG	13	/* log2 of the slots of the cache */
#define UNWIND_NEAR	8	/* slots searched for a rule, from that of its hash on */
#define UNWIND_OWN	32	/* most frames between the running function and the start of a
                                   walk */

/* A rule: how to go from a frame with this call site to its caller. */
typedef struct UnwindRule {
  uintptr_t ip;			/* call site, as return address; 0: empty */
  int32_t size;			/* bytes from the base to the caller's frame */
  int16_t saved;		/* position of the saved frame pointer, from the start of the
                                   caller's frame; 0: in its register */
  unsigned char base;		/* register to which 'size' is added (enum NativeBase) */
} UnwindRule;

/* A cache of rules. All zero: empty. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* native_frame at the last lookup (UW3) */
  unsigned turn;		/* selects the slot to replace if all are used */
} UnwindRules;

/* A frame during a walk. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* call site as return address (0: no frame); stack pointer and
                                   frame pointer there */
} UnwindFrame;

/* State of a walk. All zero at first. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* the frame from which the walk continues */
  const char *from, *to;	/* code in which the walk starts */
  const char *end;		/* highest address of the stack */
  int otherwise;		/* 1: libunwind does this walk (UW1) */
  int ended;			/* 1: no more frames */
} Unwind;

/* Corrects a return address of libunwind, which on aarch64 may be the byte before. */
#if defined(__aarch64__)
#define UNWIND_ADDRESS(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_ADDRESS(ip)	((uintptr_t)(ip))
#endif

/* Initializes libunwind, once: 300 KB and descriptors that it keeps. Call it before a signal
   handler's first walk. */
void unwind_prime (void);

/* Starts a walk of the calling thread at its innermost frame in the code from 'from' to 'to',
   which must not return before the end. 'end' of the stack may be NULL. Allocates and may
   block, like unwind_more. */
void unwind_start (Unwind *u, const char *from, const char *to, const char *end);

/* Adds some of the next frames to the n return addresses in 'addresses', of 'room' elements.
   Returns the new number; n at the end or without space. 'room' must exceed UNWIND_OWN. */
int unwind_more (Unwind *u, void **addresses, int n, int room);

/* Looks up and caches the rule of a return address. Returns 0 if it is cached, or on processors
   without rules. May allocate and block. */
int unwind_learn (UnwindRules *u, uintptr_t ip);

/* Walks outwards from frame *f with cached rules. Stores up to 'max' return addresses from *f
   on, and returns their number; *f is then the next frame, without a rule if the number is
   below 'max'. Async-signal-safe. */
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
