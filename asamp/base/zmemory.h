/* SPDX-License-Identifier: MIT */
/*
** zlib's state out of the profiler's own malloc, so that it is counted with it (own.h).
*/
#ifndef asamp_zmemory_h
#define asamp_zmemory_h

#include <zlib.h>

/* 'z' is all zero, and is about to be opened. */
void zmemory (z_stream *z);

#endif
