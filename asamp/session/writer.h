/* SPDX-License-Identifier: MIT */
/*
** What a profile's own thread does: it takes the buffers of the queue, encodes them and
** writes the file; a flight recorder's keeps them in its ring, and writes a file when it
** is asked for one, and at the end.
*/
#ifndef asamp_writer_h
#define asamp_writer_h

#include "queue.h"

#define WRITER_STACK	(1u << 20)

/* For workers_start; 'ud' is the profile. */
void *writer_run (void *ud);
void *writer_record (void *ud);

/* The encoder's sink, of a profile that has its file from the start. */
void writer_sink (void *ud, Bytes *out, int text);

#endif
