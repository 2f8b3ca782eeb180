/* SPDX-License-Identifier: MIT */
/*
** Finds the targets of indirect functions (IFUNC) of libc and libm: memcpy, strlen, floor and
** others. The library selects one of several implementations for the machine; in a stripped
** library these have no names, and the only known name is that of the selecting function.
**
** The selection is repeated as the loader does it, by calling the library's resolver, which
** only reads the processor's features. Only these two libraries are used, because they are
** never unloaded: calling into an unloaded library would crash. Neither dlopen nor dlsym is
** called: a thread that waits for the writer may hold the lock that these functions take.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/*
** Returns the public name of the function that starts at 'start' or, with 'near', shortly
** before it: parts of such a function may follow its entry. NULL: there is none. Not
** thread-safe; the name is valid for the life of the process.
*/
const char *indirect_name (uint64_t start, int near);

#endif
