/* SPDX-License-Identifier: MIT */
/*
** Names the targets of indirect functions (IFUNC) of libc and libm. An indirect function such as
** memcpy has several implementations, of which a resolver of the library selects one for the
** machine: the target. In a stripped library the implementations have no names. So this file calls
** the resolvers again, which only read processor features. It reads only libc and libm, because
** they are never unloaded. It does not call dlopen or dlsym, whose lock may be held.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/* Returns the public name of the indirect function whose target starts at 'start'. 'near' 1: the
   target may also start up to 256 bytes earlier. Returns NULL if there is no such function. The
   name is valid for the life of the process. Not thread-safe. */
const char *indirect_name (uint64_t start, int near);

#endif
