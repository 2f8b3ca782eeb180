/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack with cached rules. The rule of a call site describes how to leave the frame
** that contains the call: where the caller's frame starts, and where its frame pointer is saved. It
** is looked up once in the unwind tables (DWARF). Then a frame costs about 15 instructions, a tenth
** of libunwind's. Rules cover the usual frames of x86-64 and aarch64.
**
**   UW1  a walk has the same result as libunwind's. If a frame has no rule (signal frames, code
**        without tables), libunwind does the walk;
**   UW2  a walk only goes outwards and stays inside the thread's stack. In a signal handler it
**        reads only readable memory (readable.h);
**   UW3  when a lookup finds that object files were loaded, all rules are dropped. Until then, a
**        rule of unloaded code may give a wrong caller, but UW2 holds. A walk does not check for
**        loaded files, because the check takes the loader's lock.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

#define UNWIND_LOG	13	/* log2 of the number of slots in the cache of rules */
#define UNWIND_NEAR	8	/* number of adjacent slots in which a rule may be; the hash of its
                                   return address gives the first slot */
#define UNWIND_OWN	32	/* most frames between the running function and the frame at which a
                                   walk starts */

/* A rule: how to go from a frame that is at this call site to its caller's frame. */
typedef struct UnwindRule {
  uintptr_t ip;			/* return address of the call; 0: empty slot */
  int32_t size;			/* bytes from the base register to the caller's frame */
  int16_t saved;		/* where the caller's frame pointer is saved, in bytes from the
                                   start of the caller's frame; 0: the frame pointer is still in its
                                   register */
  unsigned char base;		/* register to which 'size' is added (enum NativeBase) */
} UnwindRule;

/* A cache of unwind rules, by return address. All zero: empty. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* how often the list of object files had been read at the last
                                   lookup */
  unsigned turn;		/* counter: if the 8 slots for a return address are full, slot turn
                                   mod 8 is replaced */
} UnwindRules;

/* A frame during a walk. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* 'ip': return address of the frame's call; 0: no frame. 'sp',
                                   'fp': stack pointer and frame pointer in the frame */
} UnwindFrame;

/* State of a walk of a C stack. All bytes are 0 before the first walk. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* the frame from which the walk continues */
  const char *from, *to;	/* address range of the code in which the walk starts */
  const char *end;		/* highest address of the stack */
  int otherwise;		/* 1: libunwind does this walk, not the unwind rules */
  int ended;			/* 1: no more frames */
} Unwind;

/* Corrects a return address from libunwind, which on aarch64 may be 1 too small. */
#if defined(__aarch64__)
#define UNWIND_ADDRESS(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_ADDRESS(ip)	((uintptr_t)(ip))
#endif

/* Initializes libunwind, once. libunwind then keeps 300 KB and some descriptors. Call unwind_prime
   before the first walk in a signal handler. */
void unwind_prime (void);

/* Starts a walk of the calling thread's stack at the innermost frame whose code lies between 'from'
   and 'to'. This frame must not return before the walk ends. 'end' is the highest address of the
   stack, or NULL. Allocates and may block, like unwind_more. */
void unwind_start (Unwind *u, const char *from, const char *to, const char *end);

/* Continues the walk: appends return addresses to the n ones in 'addresses', which has space for
   'room'. Returns the new number; n if the walk has ended or 'addresses' is full. 'room' must
   exceed UNWIND_OWN. */
int unwind_more (Unwind *u, void **addresses, int n, int room);

/* Looks up the rule of a return address and adds it to the cache. Returns 0 if the cache has the
   rule already, or on a processor for which there are no rules. May allocate and block. */
int unwind_learn (UnwindRules *u, uintptr_t ip);

/* Walks outwards from frame *f with cached rules. Stores up to 'max' return addresses, that of *f
   first, and returns their number. Sets *f to the next frame. If it stores fewer, *f has no usable
   rule, or f->ip is 0 (end of the stack). Async-signal-safe. */
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
