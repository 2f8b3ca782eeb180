/* SPDX-License-Identifier: MIT */
/*
** Checks whether memory is readable, for libunwind, which guesses positions of frames. libunwind's
** own check writes to a pipe, which the program may have closed and reused.
**
**   RD1  the check uses no descriptor;
**   RD2  it is async-signal-safe and preserves errno;
**   RD3  a page that was readable counts as readable on that thread until its cache entry is
**        replaced: a system call per word would be too slow.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* Installs the check for libunwind's walks of this process, once. */
void readable_use (void);

/* Returns 1 if the word at that address is readable. */
int readable_word (uintptr_t address);

/* Empties the thread's cache (RD3). Async-signal-safe. */
void readable_forget (void);

#endif
