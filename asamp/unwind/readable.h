/* SPDX-License-Identifier: MIT */
/*
** What libunwind may read of the C stack. Where it has to guess where a frame
** is, it asks first whether there is memory; by itself it does so by writing to
** a pipe, which a program that closes descriptors it does not know may have
** closed, and have a file of its own in its place. From readable_use on, it asks
** here.
**   RD1  no descriptor;
**   RD2  safe in a signal handler; errno is kept;
**   RD3  a page that could be read once is believed to be readable by that thread
**       later, as long as its entry is not another's: a system call for each
**       word would cost too much. libunwind believes the same.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* For libunwind's walks of this process; again and again, it does nothing. */
void readable_use (void);

/* Is there memory at that word? */
int readable_word (uintptr_t address);

#endif
