/* SPDX-License-Identifier: MIT */
/*
** Provides alternate signal stacks. Lua may run on a C stack of a few KiB (a C coroutine), too
** small for a signal frame (1 to 12 KiB). So the handler of time samples uses SA_ONSTACK, and a
** thread without an alternate stack receives one from this file ("our stack").
**
**   AS1  an alternate stack that the program has set is never replaced. If it is too small,
**        altstack_use fails;
**   AS2  our stack is disabled and unmapped at the end of its thread; if the thread ends while it
**        runs on our stack, the stack remains mapped;
**   AS3  a signal handler may leave our stack by swapcontext and return later. A second signal must
**        not overwrite the frames of the first handler, so the kernel disables our stack while a
**        handler runs on it (SS_AUTODISARM, Linux 4.7 or newer);
**   AS4  the page below our stack is inaccessible, so that an overflow is a fault.
*/
#ifndef asamp_altstack_h
#define asamp_altstack_h

#include <stddef.h>
#include <ucontext.h>

/* Size in bytes of a stack that altstack_use allocates, without the size of the largest signal
   frame, which is added. */
#define ALTSTACK_BYTES	((size_t)1 << 16)

/* Ensures that the calling thread has an alternate stack on which a signal handler can use 'least'
   bytes. Returns 0 on failure, with the reason in 'err' and errno. */
int altstack_use (size_t least, char *err, size_t errsize);

/* Called in a signal handler with the handler's context. Returns the unused bytes of the alternate
   stack, or SIZE_MAX if the handler runs on another stack. Async-signal-safe. */
size_t altstack_room (const ucontext_t *context);

/* Returns the stack pointer of the code that the signal has interrupted. */
static inline const void *altstack_sp (const ucontext_t *context) {
#if defined(__x86_64__)
  return (const void *)context->uc_mcontext.gregs[REG_RSP];
#else
  return (const void *)context->uc_mcontext.sp;
#endif
}

#endif
