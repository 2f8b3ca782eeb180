/* SPDX-License-Identifier: MIT */
/* Allocates zlib's state with the profiler's own malloc calls, so that own.h counts it. */
#ifndef asamp_zmemory_h
#define asamp_zmemory_h

#include <zlib.h>

/* Sets the allocator of 'z', which is all zero and not opened yet. */
void zmemory (z_stream *z);

#endif
