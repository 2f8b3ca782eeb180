/* SPDX-License-Identifier: MIT */
/* The writer thread of a profile takes events from the buffers of the queue, encodes them and
   writes the file. The writer of a flight recorder keeps them in its ring, and writes a file on
   request and at the end. */
#ifndef asamp_profilewriter_h
#define asamp_profilewriter_h

#include "profilequeue.h"

#define WRITER_STACK	(1u << 20)	/* bytes of the thread's stack */

/* Main functions of the thread: profilewriter_run for a file, profilewriter_record for a flight
   recorder. 'ud' is the Profile. */
void *profilewriter_run (void *ud);
void *profilewriter_record (void *ud);

/* Callback of the encoder that writes encoded bytes to the file, for a profile that is not a flight
   recorder. */
void profilewriter_sink (void *ud, Bytes *out, int text);

#endif
