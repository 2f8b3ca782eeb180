/* SPDX-License-Identifier: MIT */
/*
** The requests of a client, one line each (control.h):
**
**   stats                         statistics of the process: lines "<key> <value>", listed in
**                                 doc/reference.md
**   memory                        resident memory by its use: lines "row <bytes> <kind>
**                                 [<text>]"
**   names                         statistics of the states of each name: lines "row <open>
**                                 <made> <bytes in use> <held> <allocated> <samples>
**                                 <minor collections> <major collections> <ns of pauses>
**                                 <name>"; no row before the first sample
**   states                        the states with the most collections: lines "row <number>
**                                 <bytes in use> <collections> <name>"
**   mark <name> [<value>]         write a marker into the profile
**   record <seconds> <alloc> <time> <path>
**                                 write a separate profile for that time, with a sample every
**                                 <alloc> bytes and <time> time samples a second; answer:
**                                 "file <path>"
**   stop                          end that recording now
**   dump [<path>]                 write what the flight recorder keeps into a file (without a
**                                 path: named by the pattern); answer: "file <path>"
**   rotate                        continue in another file (for example after logrotate);
**                                 answer: "file <path>"
**   heap <state> <path>           write a snapshot of a state's heap at the end of the state's
**                                 next collection ("-": of the first state that collects);
**                                 the answer comes then (CN6): "file <path>", "state <number>"
**
** Any other request is answered with "error". Only the control thread calls these functions.
*/
#ifndef asamp_requests_h
#define asamp_requests_h

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

typedef struct Request {
  int fd;		/* the socket of the client */
  Bytes answer;		/* the text to send */
  size_t sent;		/* number of bytes of 'answer' already sent */
  struct HeapRequest *heap;	/* the snapshot that the request waits for; NULL: none, the answer is
			   complete */
  char line[4096];	/* the request's line, NUL-terminated, without its newline */
} Request;

void request_start (Request *r, int fd);
/*
** Handles the request in r->line (n bytes): appends its answer, or starts the snapshot that it
** waits for. Returns 0 if there is not enough memory.
*/
int request_answer (Request *r, size_t n);
/*
** Checks a request that waits for a snapshot, and appends its answer if the snapshot is
** finished. Returns 0 if there is not enough memory.
*/
int request_continue (Request *r);
int request_refuse (Request *r, const char *why);
/*
** Sends as much of the answer as the socket accepts now; the rest stays. Returns 0 if the
** connection is closed.
*/
int request_send (Request *r);
/*
** Releases the request of a client that disconnects; a snapshot that it waits for is cancelled.
*/
void request_end (Request *r);

/*
** requests_due returns the time (clock_now) at which the recording of "record" ends, or 0 if
** there is none. requests_expire ends it.
*/
uint64_t requests_due (void);
void requests_expire (void);
/* Forgets the recording, in the child of a fork. */
void requests_forked (void);

#endif
