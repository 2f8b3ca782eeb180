/* SPDX-License-Identifier: MIT */
/*
** Checks whether memory is readable. libunwind needs that where it guesses the position of a frame.
** Its own check writes to a pipe. A program that closes unknown descriptors may have closed this
** pipe, and its number may be that of another file now. After readable_use, libunwind calls
** readable_word instead.
**
**   RD1  the check uses no descriptor;
**   RD2  the check is async-signal-safe and preserves errno;
**   RD3  a page that was readable once counts as readable on that thread, until its cache entry is
**        replaced or readable_forget is called. libunwind makes the same assumption. A system call
**        for each word would be too slow.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* Installs the check for libunwind's walks of this process. Later calls do nothing. */
void readable_use (void);

/* Returns 1 if the word at that address is readable. */
int readable_word (uintptr_t address);

/* Empties the calling thread's cache of readable pages (RD3). Async-signal-safe. */
void readable_forget (void);

#endif
