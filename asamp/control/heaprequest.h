/* SPDX-License-Identifier: MIT */
/*
** A heap snapshot that a client has requested. The control thread makes the request, and polls it
** until it is finished. The state's own thread takes the snapshot at the end of the state's next
** collection, which may never come. Rules:
**   HK1  both threads own the memory of a request, and the thread that releases its share last
**        frees it: 'stage' changes only by an atomic exchange;
**   HK2  a request is handled only by the process that made it, not by the child of a fork
**        (samplerlist.c).
*/
#ifndef asamp_heaprequest_h
#define asamp_heaprequest_h

#include <stdint.h>

typedef struct HeapRequest HeapRequest;

typedef enum HeapRequestState {
  HEAPREQUEST_WAITS, HEAPREQUEST_TAKEN, HEAPREQUEST_FAILED
} HeapRequestState;

/*
** Requests a snapshot of the state number 'state' in the file 'path'. UINT64_MAX means the
** first state that completes a collection. The caller must call heaprequest_end later. On failure
** returns NULL, with the reason in *why, a static string.
*/
HeapRequest *heaprequest_start (uint64_t state, const char *path, const char **why);

/*
** Returns the progress of a request. For HEAPREQUEST_TAKEN, *text is the path of the file, which a
** child process may still be writing, and *state is the number of the state. For
** HEAPREQUEST_FAILED, *text is the reason. *text stays valid until heaprequest_end.
*/
HeapRequestState heaprequest_poll (const HeapRequest *h, const char **text, uint64_t *state);

/*
** Cancels the request if the state's thread has not started it, and releases the caller's share.
*/
void heaprequest_end (HeapRequest *h);

#endif
