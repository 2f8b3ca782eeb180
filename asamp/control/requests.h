/* SPDX-License-Identifier: MIT */
/*
** The requests of a client, one line each (control.h). Answers consist of rows "row ..." or lines
** of keys and values. The answers to memory, names, labels and states start with "version 1" and
** "pid <number>". Used only by the control thread, except requests_forked.
**
**   - stats: statistics, listed in doc/reference.md
**   - memory: resident memory by use
**   - names: Lua states by name
**   - states: the 16 states with the most collections
**   - labels: the 256 label sets with the most allocated bytes
**   - mark <name> [<value>]: adds a mark; ignored if the client has disconnected (CN9)
**   - record <seconds> <alloc>[/<most>] <time> <path>: writes a separate profile with a sample
**     every <alloc> bytes, at most <most> per second, and <time> time samples per second; ignored
**     if the client has disconnected (CN9)
**   - stop: ends the recording
**   - dump [<path>]: writes the flight recorder to a file
**   - rotate: continues the profile in another file
**   - heap <state> <path>: writes a heap snapshot of a state ("-": the first that collects);
**     ignored if the client has disconnected (CN9)
*/
#ifndef asamp_requests_h
#define asamp_requests_h

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* A client's request. */
typedef struct Request {
  int fd;		/* socket of the client */
  Bytes answer;		/* text to send to the client */
  size_t sent;		/* bytes of 'answer' already sent */
  struct HeapRequest *heap;	/* snapshot for which the client waits, or NULL */
  int isgone;		/* not 0: the client has disconnected before its request was read */
  char line[4096];	/* received bytes; the first byte is the start of a line */
} Request;

/* Initializes the request of a client. 'fd': the client's socket, which the caller closes. */
void request_start (Request *r, int fd);
/* Handles the request in r->line, which has n bytes before its NUL: appends the answer or starts a
   snapshot. Returns 0 if out of memory, or if the request is ignored (CN9). */
int request_answer (Request *r, size_t n);
/* Appends the answer if the snapshot for which the client waits is finished. Returns 0 if out of
   memory. */
int request_continue (Request *r);
/* Appends "error WHY" to the answer. Returns 0 if out of memory. */
int request_refuse (Request *r, const char *why);
/* Sends as much of the answer as possible now. Returns 0 if the connection or its descriptor is
   closed. */
int request_send (Request *r);
/* Frees the answer, and cancels the snapshot for which the client waits. */
void request_end (Request *r);

/* Returns the time (clock_now) at which the running recording must end; 0: no recording runs. */
uint64_t requests_due (void);
/* Ends the recording, because its time is over (requests_due). Prints a message on failure. */
void requests_expire (void);
/* Forgets the running recording in a forked child, because it belongs to the parent. */
void requests_forked (void);

#endif
