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
**                                 <name>"; the name of states without a sample is empty
**   labels                        exact bytes of the 256 label sets with the most bytes: lines
**                                 "row <bytes> [<name>=<value><tab>...]", and "others <bytes>"
**   states                        the 16 states with the most collections: lines "row <number>
**                                 <bytes in use> <collections> <name>"
**   mark <name> [<value>]         write a marker into the profile
**   record <seconds> <alloc>[/<most>] <time> <path>
**                                 write a separate profile for that time, with a sample every
**                                 <alloc> bytes (at most <most> samples a second and state)
**                                 and <time> time samples a second, 0: none; answer:
**                                 "file <path>"
**   stop                          end the recording now
**   dump [<path>]                 write the flight recorder's content into a file (without a
**                                 path: named by the pattern); answer: "file <path>"
**   rotate                        continue in another file (for example after logrotate), or
**                                 dump the flight recorder; answer: "file <path>"
**   heap <state> <path>           write a snapshot of a state's heap at the end of the state's
**                                 next collection ("-": of the first state that collects);
**                                 the answer comes then (CN6): "file <path>", "state <number>"
**
** Before their rows, memory, names, labels and states have lines "version 1" and "pid <number>".
** Any other request is answered with "error". Only the control thread calls these functions,
** except requests_forked.
*/
#ifndef asamp_requests_h
#define asamp_requests_h

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* A client's current request. */
typedef struct Request {
  int fd;		/* the socket of the client */
  Bytes answer;		/* the text to send */
  size_t sent;		/* number of bytes of 'answer' already sent */
  struct HeapRequest *heap;	/* the heap snapshot for which the client waits; NULL: none */
  char line[4096];	/* the bytes received from the client, from the start of a line on */
} Request;

/* Initializes the request of a new client with socket 'fd', which remains the caller's. */
void request_start (Request *r, int fd);
/*
** Handles the request in r->line: appends the answer, or starts a snapshot. The line has n bytes,
** and a NUL in place of its newline. Changes the line. Returns 0 if there is not enough memory.
*/
int request_answer (Request *r, size_t n);
/*
** If the snapshot r->heap is finished, appends the answer and sets r->heap to NULL. Returns 0 if
** there is not enough memory.
*/
int request_continue (Request *r);
/* Appends the answer "error WHY". Returns 0 if there is not enough memory. */
int request_refuse (Request *r, const char *why);
/*
** Sends as much of the answer as the socket accepts now, and keeps the rest for the next call.
** Returns 0 if the connection is closed, or if the program has closed the socket's descriptor or
** uses its number for another file (CN7).
*/
int request_send (Request *r);
/* Frees the data of a client that disconnects. Cancels its snapshot (heaprequest_end). */
void request_end (Request *r);

/*
** requests_due returns the time (clock_now) at which the recording that "record" has started is to
** end, or 0 if there is none. requests_expire ends the recording. If that fails, it prints a
** message on stderr.
*/
uint64_t requests_due (void);
void requests_expire (void);
/* Forgets the recording, in the child of a fork. */
void requests_forked (void);

#endif
