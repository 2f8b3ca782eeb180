/* SPDX-License-Identifier: MIT */
/*
** Where libc's and libm's indirect functions are (IFUNC: memcpy, strlen, floor ...).
** Such a function is chosen for the machine from several, which have no names in a
** stripped library: what is known of the one that runs is that memcpy led to it.
**
** The choice is asked for again as the loader asks, by a call of the library's own
** function; it only looks at what the processor can do. Of these two libraries alone,
** for nobody unloads them: a call into one that goes away would end the process. No
** lock is taken: somebody who waits for the writer may have the loader's.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/*
** The public name of the function that begins at 'start', or, with 'near', right before
** it: pieces of such a function may begin behind its entry. NULL: it is none. One
** thread at a time; the name lives as long as the process.
*/
const char *indirect_name (uint64_t start, int near);

#endif
