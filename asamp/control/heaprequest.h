/* SPDX-License-Identifier: MIT */
/*
** A heap snapshot requested by a client. The control thread polls the request; the state's thread
** takes the snapshot at the end of its next collection, which may never come.
**
**   HK1  both threads own the request; the last one to release the request frees it. 'stage'
**        changes only by an atomic exchange;
**   HK2  a request is handled only by the process that made it.
*/
#ifndef asamp_heaprequest_h
#define asamp_heaprequest_h

#include <stdint.h>

typedef struct HeapRequest HeapRequest;

typedef enum HeapRequestState {
  HEAPREQUEST_WAITS, HEAPREQUEST_TAKEN, HEAPREQUEST_FAILED
} HeapRequestState;

/* Requests a snapshot of state number 'state' (UINT64_MAX: of the first state that collects), to be
   written to the file 'path'. The caller must call heaprequest_end. Returns NULL with the reason in
   *why on failure. */
HeapRequest *heaprequest_start (uint64_t state, const char *path, const char **why);

/* Returns the state of the request. *text is valid until heaprequest_end.
   TAKEN   stores the file's path in *text (a child may still be writing the file), and the
           state's number in *state
   FAILED  stores the reason in *text */
HeapRequestState heaprequest_poll (const HeapRequest *h, const char **text, uint64_t *state);

/* Cancels the snapshot if it has not started, and releases the request. */
void heaprequest_end (HeapRequest *h);

#endif
