/* SPDX-License-Identifier: MIT */
/*
** Names the targets of indirect functions (IFUNC) of libc and libm, such as memcpy: of several
** implementations the library selects one for the machine. In a stripped library the
** implementations have no names. So this repeats the selection by calling the resolvers, which
** only read processor features. Only for libc and libm, which are never unloaded. Uses no dlopen
** or dlsym, whose lock may be held.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/* Returns the public name of the indirect function whose target starts at 'start', or with
   'near' shortly before; NULL: none. Not thread-safe. Valid for the life of the process. */
const char *indirect_name (uint64_t start, int near);

#endif
