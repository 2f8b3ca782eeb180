/* SPDX-License-Identifier: MIT */
/*
** Checks whether memory is readable. libunwind guesses where frames are, so it may read anywhere.
** libunwind's own check writes to a pipe, whose descriptor the program may have closed and reused.
**
**   RD1  the check uses no descriptor;
**   RD2  the check is async-signal-safe and preserves errno;
**   RD3  a system call for each word would be too slow. So each thread has a cache of readable
**        pages. A page in the cache counts as readable. The program may unmap pages between two
**        walks, so each walk starts with an empty cache.
*/
#ifndef asamp_readable_h
#define asamp_readable_h

#include <stdint.h>

/* Makes libunwind check, in walks of this process, whether memory is readable before it reads it.
   Later calls have no effect. */
void readable_use (void);

/* Returns 1 if the word at that address is readable. */
int readable_word (uintptr_t address);

/* Empties the thread's cache. Async-signal-safe. */
void readable_forget (void);

#endif
