/* SPDX-License-Identifier: MIT */
/* Makes zlib allocate with the profiler's malloc calls, which own.h counts. */
#ifndef asamp_zmemory_h
#define asamp_zmemory_h

#include <zlib.h>

/* Sets the allocator of a stream, which is all zero and not opened yet. */
void zmemory (z_stream *z);

#endif
