/* SPDX-License-Identifier: MIT */
/* Makes zlib allocate through functions of the profiler that call malloc, so that own.h counts
   zlib's memory. */
#ifndef asamp_zmemory_h
#define asamp_zmemory_h

#include <zlib.h>

/* Sets the allocator of a stream. Call it before the stream is opened, when the stream is all
   zero. */
void zmemory (z_stream *z);

#endif
