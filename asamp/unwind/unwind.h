/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack with cached rules. The rule of a call site describes how to leave the frame
** that contains the call: where the caller's frame starts, and where the caller's frame pointer is
** saved. A rule is looked up once in the unwind tables (DWARF). With a cached rule, a frame costs
** about 15 instructions, a tenth of libunwind's. Rules cover the usual frames of x86-64 and
** aarch64.
**
**   UW1  a walk has the same result as libunwind's. If a rule cannot describe a frame (signal
**        frames, code without unwind tables), libunwind does the walk;
**   UW2  a walk only goes outwards and stays inside the thread's stack. In a signal handler it
**        reads only readable memory (readable.h);
**   UW3  if a lookup finds that object files were loaded, all rules are dropped. Until then, a rule
**        of unloaded code may give a wrong caller, but UW2 holds. A walk does not check for loaded
**        files, because the check takes the loader's lock.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

/* log2 of the number of hash values in the cache of rules. The slots in use are scattered over the
   cache: with the value 13, the first walks used more pages of memory, and a session took 0.1 ms
   longer (bench/defaults, "short"). */
#define UNWIND_LOG	11
#define UNWIND_NEAR	8	/* number of adjacent slots in which a rule may be; the hash of its
                                   return address is the index of the first of them */
#define UNWIND_OWN	32	/* largest number of frames between the running function and the
                                   frame at which a walk starts */

/* The rule of a call site: how to go from a frame that is at this call to its caller's frame. */
typedef struct UnwindRule {
  uintptr_t ip;			/* return address of the call; 0: empty slot */
  int32_t size;			/* start of the caller's frame, in bytes from the base register */
  int16_t saved;		/* address at which the caller's frame pointer is saved, in bytes
                                   from the start of the caller's frame; 0: the frame pointer is
                                   still in its register */
  unsigned char base;		/* register to which 'size' is added (enum NativeBase) */
} UnwindRule;

/* A cache of unwind rules, a hash table by return address. Empty if all bytes are 0. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* value returned by native_frame at the last lookup: how many times
                                   the list of object files had been read */
  unsigned turn;		/* number of rules replaced so far. If all UNWIND_NEAR slots for a
                                   return address are full, slot number turn mod UNWIND_NEAR of
                                   them is replaced. */
} UnwindRules;

/* A frame during a walk. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* 'ip': return address of the call that the frame is executing; 0:
                                   no frame. 'sp', 'fp': values of stack pointer and frame pointer
                                   in the frame */
} UnwindFrame;

/* State of a walk of a C stack. All bytes are 0 before the first walk. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* the frame from which the walk continues */
  const char *from, *to;	/* the walk starts at the innermost frame whose code lies in this
                                   range of addresses */
  const char *end;		/* highest address of the stack */
  int otherwise;		/* 1: libunwind does this walk, because a rule could not be used */
  int ended;			/* 1: the walk has reached the outermost frame */
} Unwind;

/* Corrects a return address from libunwind, which on aarch64 may be 1 too small. */
#if defined(__aarch64__)
#define UNWIND_ADDRESS(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_ADDRESS(ip)	((uintptr_t)(ip))
#endif


/* Starts a walk of the calling thread's stack. The first frame is the innermost one whose code lies
   between 'from' and 'to'; its function must not return before the walk ends. 'end': highest
   address of the stack; NULL: unknown, so that libunwind does the walk. Allocates and may block,
   like unwind_more. */
void unwind_start (Unwind *u, const char *from, const char *to, const char *end);

/* Continues the walk. 'addresses' is an array of 'room' elements, more than UNWIND_OWN. Its first n
   elements are the return addresses found so far; appends further ones, up to a total of room -
   UNWIND_OWN. Returns the new total. The total is n if the walk has ended or this limit is
   reached. */
int unwind_more (Unwind *u, void **addresses, int n, int room);

/* Looks up the rule of a return address in the unwind tables and adds it to the cache. Returns 0 if
   the cache already has the rule, or if this processor has no rules; else 1. May allocate and
   block. */
int unwind_learn (UnwindRules *u, uintptr_t ip);

/* Walks outwards from frame *f with cached rules. Stores up to 'max' return addresses, that of *f
   first, and returns their number. Sets *f to the next frame. If the number is below 'max', f->ip
   is 0 (end of the stack) or *f has no usable rule. Async-signal-safe. */
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
