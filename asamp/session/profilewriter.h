/* SPDX-License-Identifier: MIT */
/* The writer thread of a profile: takes events from the queue, encodes them and writes the
   file. For a flight recorder, keeps them in a ring and writes a file on request and at the
   end. */
#ifndef asamp_profilewriter_h
#define asamp_profilewriter_h

#include "profilequeue.h"

#define WRITER_STACK	(1u << 20)	/* bytes of the thread's stack */

/* Main function of the thread, for a file. */
void *profilewriter_run (void *ud);
/* Main function of the thread, for a flight recorder. */
void *profilewriter_record (void *ud);

/* The encoder's sink: writes the encoded bytes to the file. */
void profilewriter_sink (void *ud, Bytes *out);

#endif
