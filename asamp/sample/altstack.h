/* SPDX-License-Identifier: MIT */
/*
** Provides alternate signal stacks for the handler of time samples. A program may run Lua on
** stacks of a few KiB (makecontext), while a signal frame alone takes 1 to 12 KiB, depending on
** the processor's registers. So the handler is installed with SA_ONSTACK, and a thread without
** an alternate stack receives one.
**
**   AS1  an alternate stack that the program has set is kept, whatever its size: programs free
**        or unmap the address that sigaltstack returns to them;
**   AS2  our stack ends with its thread: it is disabled, if it is still set, and unmapped. If the
**        thread ends on this stack, neither is done;
**   AS3  a handler of the program that leaves our stack by swapcontext may return to it later:
**        until then the stack is disabled (SS_AUTODISARM, since Linux 4.7), and signals use the
**        current stack;
**   AS4  an inaccessible page is below our stack.
*/
#ifndef asamp_altstack_h
#define asamp_altstack_h

#include <stddef.h>
#include <ucontext.h>

/* Size of our stacks in bytes, in addition to the largest signal frame. */
#define ALTSTACK_BYTES	((size_t)1 << 16)

/*
** Ensures that the calling thread has an alternate stack with space for 'least' bytes and a signal
** frame without x86 tile registers. Returns 1, also while our stack is disabled (AS3); on failure
** 0, with one line in 'err' and the reason in errno.
*/
int altstack_use (size_t least, char *err, size_t errsize);

/*
** Called in a signal handler with its context: returns the bytes left on the alternate stack, or
** SIZE_MAX if the handler runs on another stack. Async-signal-safe.
*/
size_t altstack_room (const ucontext_t *context);

#endif
