/* SPDX-License-Identifier: MIT */
/*
** Stacks for the handler of time samples. A program may run Lua on stacks of a few
** KiB (makecontext), of which a signal alone takes one to twelve, by the processor's
** registers. So the handler asks for the thread's alternate stack (SA_ONSTACK), and a
** thread that has none is given one.
**
**   AS1  a thread that has one keeps it, whatever its size: programs free, or unmap, what
**        sigaltstack tells them;
**   AS2  ours ends with its thread: it is taken off if it is still set, and unmapped
**        unless the thread is on it;
**   AS3  a handler of the program that leaves ours by swapcontext may come back: it is
**        off until then (SS_AUTODISARM), and signals come where the thread is;
**   AS4  below ours is a page that nobody can touch.
*/
#ifndef asamp_altstack_h
#define asamp_altstack_h

#include <stddef.h>
#include <ucontext.h>

/* Bytes of ours, beside what the machine itself needs. */
#define ALTSTACK_BYTES	((size_t)1 << 16)

/*
** The calling thread has an alternate stack after this, on which a signal finds room
** for itself and 'least' bytes. 0: it has not; 'err' says why in one line.
*/
int altstack_use (size_t least, char *err, size_t errsize);

/* In a signal handler, of the calling function: bytes to the end of the alternate
   stack. SIZE_MAX: it is not there. */
size_t altstack_room (const ucontext_t *context);

#endif
