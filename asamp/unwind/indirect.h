/* SPDX-License-Identifier: MIT */
/*
** Names the targets of indirect functions (IFUNC) of libc and libm. An indirect function such as
** memcpy has several implementations. A resolver, a function of the library, selects one of them
** for the machine: the target. In a stripped library the implementations have no names. So this
** file calls the resolvers again, to find which indirect function a target's address belongs to.
** Resolvers only read processor features. Only libc and libm are read, because they are never
** unloaded. This file does not call dlopen or dlsym, because another thread may hold their lock.
*/
#ifndef asamp_indirect_h
#define asamp_indirect_h

#include <stdint.h>

/* Returns the public name of the indirect function whose target starts at 'start', or NULL. 'near'
   1: the target may also start up to 256 bytes before 'start'. The name is valid for the life of
   the process. Not thread-safe. */
const char *indirect_name (uint64_t start, int near);

#endif
