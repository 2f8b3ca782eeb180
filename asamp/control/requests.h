/* SPDX-License-Identifier: MIT */
/*
** What a process can be asked for, one line at a time (control.h):
**
**   stats                         "<key> <value>" lines, as doc/reference.md lists them
**   names                         the same of the states of each name: lines "row <open> <made>
**                                 <bytes in use> <held> <allocated> <samples> <minor and major
**                                 collections> <ns of pauses> <name>"; none: no sample yet
**   mark <name> [<value>]         a marker in the profile
**   record <seconds> <alloc> <time> <path>
**                                 a profile of its own for that long, a sample every so
**                                 many bytes, and so many of time a second; "file <path>"
**   stop                          ends that now
**   dump [<path>]                 what the flight recorder keeps, into a file: without a path
**                                 by the pattern; "file <path>"
**   rotate                        goes on in another file (after logrotate, say);
**                                 "file <path>"
**   heap <state> <path>           a snapshot of a state's heap at the end of its next
**                                 collection, "-": of the first state that collects, and answered
**                                 then (CN6); "file <path>", "state <number>"
**   states                        the states that have collected most: lines "row <number>
**                                 <bytes in use> <collections> <name>"
**
** Whatever else comes is answered with "error". Used by the control's thread alone.
*/
#ifndef asamp_requests_h
#define asamp_requests_h

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

typedef struct Request {
  int fd;		/* to answer to */
  Bytes answer;		/* what is to be sent, ... */
  size_t sent;		/* ... and how much of it was */
  struct HeapAsk *heap;	/* that it waits for; NULL: it is answered */
  char line[4096];	/* without its newline, NUL-terminated */
} Request;

void request_begin (Request *r, int fd);
/* Has the answer to the line of n bytes ready, or begins what it waits for; 0: there is no
   memory for it. */
int request_answer (Request *r, size_t n);
/* Of one that waits: the same if that is possible now. */
int request_continue (Request *r);
int request_refuse (Request *r, const char *why);
/* Sends of the answer what the socket takes; the rest stays. 0: nobody listens any more. */
int request_send (Request *r);
/* Nobody waits for it any more. */
void request_end (Request *r);

/* When what was asked for is to end (clock_now); 0: nothing is. And ends it. */
uint64_t requests_due (void);
void requests_expire (void);
/* In the child of a fork: nothing was asked for. */
void requests_forked (void);

#endif
