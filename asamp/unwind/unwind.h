/* SPDX-License-Identifier: MIT */
/*
** Walks the C stack. The rule for leaving the frame of a call site (where the caller's frame
** starts, where its frame pointer was saved) is looked up once in the object file's unwind
** tables and cached: then a frame costs about 15 instructions, where libunwind takes over a
** hundred. Rules are derived from DWARF call frame information. Cached rules have the form that
** compilers generate for almost all code of x86-64 and aarch64: the frame starts at a fixed
** distance from the stack pointer or the frame pointer.
**
**   UW1  the result equals that of libunwind. For a call site of another form (a signal frame,
**        a computed frame position, code without tables), and on other processors, libunwind
**        walks the whole stack (backtrace.h: to the next frame with a rule);
**   UW2  a walk only proceeds outwards and stays inside the thread's stack; in a signal
**        handler, where tables may be wrong, it reads only readable memory (readable.h);
**   UW3  the rules are dropped when a lookup finds that object files were loaded, because other
**        code may then be at the addresses of unloaded code. Until a call site needs a lookup, the
**        rules of unloaded code remain in use: callers may be wrong, but UW2 holds. No walk checks
**        for loaded files itself, because that takes the loader's lock, whose owner may be waiting
**        for the sampled thread.
**
** A signal handler looks nothing up: see backtrace.h.
*/
#ifndef asamp_unwind_h
#define asamp_unwind_h

#include <stdint.h>

#define UNWIND_LOG	13	/* log2 of the number of rules */
#define UNWIND_NEAR	8	/* slots searched for a rule, starting at its hash */
#define UNWIND_OWN	32	/* largest number of frames inside the start of a walk */

/* Rule for leaving a frame; 'ip', a return address, is its call site. */
typedef struct UnwindRule {
  uintptr_t ip;			/* 0: empty */
  int32_t size;			/* distance in bytes from the base to the caller's frame */
  int16_t saved;		/* position of the saved frame pointer relative to the
				   caller's frame; 0: still in the register */
  unsigned char base;		/* enum NativeBase */
} UnwindRule;

/* The cached rules. Initially all zero. */
typedef struct UnwindRules {
  UnwindRule rule[(1 << UNWIND_LOG) + UNWIND_NEAR];
  unsigned loads;		/* result of native_frame when they were looked up */
  unsigned turn;		/* counter that selects the slot to be replaced */
} UnwindRules;

/* A frame: its call site, and the stack and frame pointers there. */
typedef struct UnwindFrame {
  uintptr_t ip, sp, fp;		/* ip 0: there is no frame */
} UnwindFrame;

/* State of a walk. Initially all zero. */
typedef struct Unwind {
  UnwindRules rules;
  UnwindFrame next;		/* next frame */
  const char *from, *to;	/* code in which the walk starts */
  const char *end;		/* end of the thread's stack */
  int otherwise;		/* 1: libunwind does this walk */
  int ended;			/* 1: there are no more frames */
} Unwind;

/*
** Corrects a return address from libunwind: on aarch64, with instructions of 4 bytes, some
** versions return the byte before it.
*/
#if defined(__aarch64__)
#define UNWIND_ADDRESS(ip)	(((uintptr_t)(ip) + 3) & ~(uintptr_t)3)
#else
#define UNWIND_ADDRESS(ip)	((uintptr_t)(ip))
#endif

/*
** Initializes libunwind, which touches 300 KB, and has it open the descriptors that it keeps,
** without using the numbers of standard streams. Later calls do nothing. Walks that need libunwind
** call it; the owner of a signal handler calls it before the handler's first walk.
*/
void unwind_prime (void);

/*
** Starts a walk of the calling thread's stack, which ends at 'end' (NULL: unknown), at its
** innermost frame in the code from 'from' to 'to'. That frame must stay until the walk is over.
** Allocates, and may block while another thread looks up names; so does unwind_more.
*/
void unwind_start (Unwind *u, const char *from, const char *to, const char *end);

/*
** Continues a walk: adds some of the next frames to the n return addresses already in
** 'addresses'. Returns their new number: n at the end of the stack, or if there is no space. 'room'
** is the number of elements of 'addresses', more than UNWIND_OWN, of which UNWIND_OWN are scratch.
*/
int unwind_more (Unwind *u, void **addresses, int n, int room);

/*
** Looks up the rule of a return address. Returns 0 if it is cached already, or on a processor
** without rules. May allocate and block.
*/
int unwind_learn (UnwindRules *u, uintptr_t ip);

/*
** Proceeds outwards from frame *f of a stack that ends at 'end', using cached rules only:
** stores up to 'max' return addresses, starting with that of *f, and returns their number. *f
** becomes the next frame; if fewer than 'max' were stored, it has no rule or does not exist (its ip
** is 0). Async-signal-safe, unless the handler interrupted unwind_learn of these rules.
*/
int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max);

#endif
