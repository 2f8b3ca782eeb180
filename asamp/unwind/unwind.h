/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack with cached rules. The rule of a call site describes how to leave its frame:
** where the caller's frame starts, and where its frame pointer was saved. A rule is looked up once
** in the unwind tables of the object file (DWARF call frame information). After that a frame costs
** about 15 instructions, where libunwind takes over a hundred. A cached rule has the form that
** compilers generate for almost all code of x86-64 and aarch64: the frame starts at a fixed
** distance from the stack pointer or the frame pointer.
**
**   UW1  the result equals that of libunwind. If a frame has another form (a signal frame, a
**        computed frame position, code without tables), and on other processors, libunwind does
**        the walk. unwind_more repeats the whole walk with libunwind. backtrace.h uses libunwind
**        only up to the next frame that has a rule;
**   UW2  a walk only proceeds outwards and stays inside the thread's stack. In a signal handler,
**        where tables may be wrong, it reads only readable memory (readable.h);
**   UW3  when a lookup finds that object files were loaded, all rules are dropped, because other
**        code may now be at the addresses of unloaded code. Before that lookup, rules of unloaded
**        code may still be used: the callers found may be wrong, but UW2 holds. A walk does not
**        check for loaded files, because the check takes the loader's lock, whose owner may be
**        waiting for the sampled thread.
**
** A signal handler looks nothing up: see backtrace.h.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

#define UNWIND_LOG	13	/* log2 of the number of slots of the cache of rules */
#define UNWIND_NEAR	8	/* number of slots searched for a rule; the first is that of its
				   hash */
#define UNWIND_OWN	32	/* largest number of frames between the running function and the
				   frame at which a walk starts */

/* A rule: how to proceed from a frame with this call site to its caller. */
typedef struct UnwindRule {
  uintptr_t ip;			/* the call site, as its return address; 0: an empty slot */
  int32_t size;			/* distance in bytes from the base to the caller's frame */
  int16_t saved;		/* position of the saved frame pointer relative to the start of the
				   caller's frame, in bytes; 0: it is still in its register */
  unsigned char base;		/* register to which 'size' is added (enum NativeBase) */
} UnwindRule;

/* A cache of rules that lead from a call site to the frame of its caller. Initially all zero. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* result of native_frame at the last lookup: if it has increased,
				   object files were loaded and all rules are dropped (UW3) */
  unsigned turn;		/* counter that selects the slot to be replaced if all slots for a
				   rule are used */
} UnwindRules;

/* A frame during a walk: its call site as a return address, and the stack pointer and frame
   pointer there. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* 'ip': call site as a return address; 0: there is no frame. 'sp'
				   and 'fp': stack pointer and frame pointer there */
} UnwindFrame;

/* State of a walk. Initially all zero. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* the frame from which the walk continues */
  const char *from, *to;	/* address range of the code in which the walk starts */
  const char *end;		/* end (highest address) of the thread's stack */
  int otherwise;		/* 1: libunwind does this walk, because a frame has a form that no
				   rule describes (UW1) */
  int ended;			/* 1: there are no more frames */
} Unwind;

/*
** Corrects a return address from libunwind. On aarch64, whose instructions have 4 bytes, some
** versions of libunwind return the byte before it.
*/
#if defined(__aarch64__)
#define UNWIND_ADDRESS(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_ADDRESS(ip)	((uintptr_t)(ip))
#endif

/*
** Initializes libunwind, which writes to 300 KB of memory and opens descriptors that it keeps.
** Makes sure that these are not the numbers of standard streams. Later calls do nothing. Walks that
** need libunwind call this function; the owner of a signal handler must call it before the
** handler's first walk.
*/
void unwind_prime (void);

/*
** Starts a walk of the calling thread's stack at its innermost frame in the code from 'from' to
** 'to', whose function must not return before the walk is over. 'end' is the end of the stack;
** NULL: unknown. unwind_start and unwind_more allocate, and may block while another thread looks up
** names.
*/
void unwind_start (Unwind *u, const char *from, const char *to, const char *end);

/* Continues a walk: adds some of the next frames to the n return addresses already in 'addresses',
   which has 'room' elements. Returns the new number, which is n at the end of the stack or if there
   is no space. UNWIND_OWN of the elements are scratch space, so 'room' must exceed that number. */
int unwind_more (Unwind *u, void **addresses, int n, int room);

/*
** Looks up the rule of a return address and caches it. Returns 0 if the rule is cached already, or
** on a processor without rules. May allocate and block.
*/
int unwind_learn (UnwindRules *u, uintptr_t ip);

/*
** Proceeds outwards from frame *f, using cached rules only. The stack ends at 'end'. Stores up to
** 'max' return addresses, starting with that of *f, returns their number, and sets *f to the next
** frame. If the number is below 'max', *f has no rule or does not exist (its ip is 0).
** Async-signal-safe, unless the handler interrupted unwind_learn of the same rules.
*/
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
