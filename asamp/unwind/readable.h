/* SPDX-License-Identifier: MIT */
/*
** Checks whether memory is readable, for libunwind, which guesses where frames are and so may read
** anywhere. libunwind's own check writes to a pipe, whose descriptor the program may have closed
** and reused.
**
**   RD1  the check uses no descriptor;
**   RD2  the check is async-signal-safe and preserves errno;
**   RD3  each thread has a cache of readable pages, because a system call for each word would be
**        too slow. The program may unmap pages between two walks, so each walk starts with an empty
**        cache.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* Makes libunwind call readable_word before it reads memory in its usual walk (unw_backtrace).
   Calls after the first one have no effect. */
void readable_use (void);

/* Returns 1 if the word (8 bytes) at the address is readable. */
int readable_word (uintptr_t address);

/* Empties the calling thread's cache of readable pages. Async-signal-safe. */
void readable_forget (void);

#endif
