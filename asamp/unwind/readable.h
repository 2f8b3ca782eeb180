/* SPDX-License-Identifier: MIT */
/*
** Checks whether libunwind may read memory. Where libunwind guesses the position of a frame, it
** first checks that there is memory. libunwind's check writes to a pipe, which a program that
** closes unknown descriptors may have closed and replaced by a file of its own. After
** readable_use, libunwind uses readable_word instead.
**
**   RD1  the check uses no descriptor;
**   RD2  the check is async-signal-safe and preserves errno;
**   RD3  a page that was readable once is assumed to stay readable for that thread, until its
**        cache entry is replaced or readable_forget is called: a system call for each word
**        would be too slow. libunwind assumes the same.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* Installs the check for libunwind's walks of this process. Later calls do nothing. */
void readable_use (void);

/* Returns 1 if the word at that address is readable. */
int readable_word (uintptr_t address);

/* Empties the calling thread's cache. Async-signal-safe. */
void readable_forget (void);

#endif
