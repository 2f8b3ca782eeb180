/* SPDX-License-Identifier: MIT */
/* The writer thread of a profile takes events from the queue, encodes them and writes the file. For
   a flight recorder, it keeps events in a ring (ring.h), and writes a file on request and at the
   end. */
#ifndef asamp_profilewriter_h
#define asamp_profilewriter_h

#include "profilequeue.h"

#define WRITER_STACK	(1u << 20)	/* stack of the writer thread, bytes */

/* Main function of the writer thread of a profile that is written to a file during the run. */
void *profilewriter_run (void *ud);
/* Main function of the writer thread of a flight recorder. */
void *profilewriter_record (void *ud);

/* The encoder's sink: writes the encoded bytes to the file. */
void profilewriter_sink (void *ud, Bytes *out);

#endif
