/* SPDX-License-Identifier: MIT */
/*
** Names the targets of indirect functions (IFUNC) of libc and libm. An indirect function such as
** memcpy has several implementations. A resolver, a function of the library, selects one of them
** for the machine: the target. In a stripped library the implementations have no names. So this
** file calls the resolvers again, to know which function an address belongs to; they only read
** processor features. It reads only libc and libm, because they are never unloaded. It does not
** call dlopen or dlsym, whose lock may be held.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/* Returns the public name of the indirect function whose target starts at 'start', or NULL. 'near'
   1: the target may also start up to 256 bytes before 'start'. The name is valid for the life of
   the process. Not thread-safe. */
const char *indirect_name (uint64_t start, int near);

#endif
