/* SPDX-License-Identifier: MIT */
/*
** Finds names for the targets of indirect functions (IFUNC) of libc and libm: memcpy, strlen, floor
** and others. The library selects one of several implementations of such a function for the
** machine. In a stripped library only the function that selects has a name.
**
** To find the target, this file repeats the selection as the loader does it: it calls the library's
** resolver, which only reads the processor's features. It does so only for libc and libm, which are
** never unloaded, because calling into an unloaded library would crash. It calls neither dlopen nor
** dlsym: a thread that waits for the writer may hold the lock that they take.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/*
** Returns the public name of the indirect function whose target starts at 'start'; NULL: there is
** none. With 'near', also finds a target that starts shortly before 'start', because parts of a
** function may follow its entry. Not thread-safe. The name is valid for the life of the process.
*/
const char *indirect_name (uint64_t start, int near);

#endif
