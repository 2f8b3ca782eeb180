/* SPDX-License-Identifier: MIT */
/*
** Provides alternate signal stacks for the handler of time samples. A program may run Lua on stacks
** of a few KiB (makecontext), while a signal frame alone takes 1 to 12 KiB, depending on the
** processor's registers. So the handler is installed with SA_ONSTACK, and a thread without an
** alternate stack receives one from this file, called 'our stack' here.
**
**   AS1  an alternate stack that the program has set is kept, whatever its size: programs free
**        or unmap the address that sigaltstack returns to them;
**   AS2  our stack lives as long as its thread. At the end of the thread it is disabled, if it is
**        still set, and unmapped. A thread that ends while it runs on this stack leaves it mapped;
**   AS3  a handler of the program may leave our stack by swapcontext and return to it later. So
**        that no other signal overwrites it, the kernel disables our stack when a handler enters
**        it, until that handler returns (SS_AUTODISARM, since Linux 4.7). Signals that arrive in
**        the meantime use the current stack;
**   AS4  the page below our stack is inaccessible, so that an overflow is a fault.
*/
#ifndef asamp_altstack_h
#define asamp_altstack_h

#include <stddef.h>
#include <ucontext.h>

/* Size in bytes of the stacks that this file provides, in addition to the largest signal frame. */
#define ALTSTACK_BYTES	((size_t)1 << 16)

/*
** Ensures that the calling thread has an alternate stack. Returns 1 on success, also while our
** stack is disabled (AS3). Returns 0, with one line in 'err' and the reason in errno, on failure:
** for example, if the program has set a stack without space for 'least' bytes and a signal frame
** (without x86 tile registers).
*/
int altstack_use (size_t least, char *err, size_t errsize);

/*
** Returns the bytes left on the alternate stack. Called in a signal handler with the handler's
** context. Returns SIZE_MAX if the handler runs on another stack. Async-signal-safe.
*/
size_t altstack_room (const ucontext_t *context);

#endif
