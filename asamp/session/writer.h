/* SPDX-License-Identifier: MIT */
/*
** The writer thread of a profile. It takes the buffers of the queue, encodes them and writes
** the file; that of a flight recorder keeps them in its ring, and writes a file on request and
** at the end.
*/
#ifndef asamp_writer_h
#define asamp_writer_h

#include "queue.h"

#define WRITER_STACK	(1u << 20)	/* bytes of the thread's stack */

/* Main functions of the thread, for a file and for a flight recorder; 'ud' is the Profile. */
void *writer_run (void *ud);
void *writer_record (void *ud);

/* Sink of the encoder, for a profile that has a file from the start. */
void writer_sink (void *ud, Bytes *out, int text);

#endif
