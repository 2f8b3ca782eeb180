/* SPDX-License-Identifier: MIT */
/*
** A snapshot that a client has asked for: the state's own thread takes it at the end of the
** state's next collection, which may be never; the control's thread looks now and then.
**   HK1  the memory belongs to both, and who is the last to be done with it frees it:
**        'stage' changes by atomic exchange alone;
**   HK2  it is of the process that asked: the child of a fork takes none (samplers.c).
*/
#ifndef asamp_heapask_h
#define asamp_heapask_h

#include <stdint.h>

typedef struct HeapAsk HeapAsk;

typedef enum HeapAskAnswer { HEAPASK_WAITS, HEAPASK_TAKEN, HEAPASK_FAILED } HeapAskAnswer;

/* Of the state of that number, UINT64_MAX: of the first that collects. NULL: 'why' says why not. */
HeapAsk *heapask_begin (uint64_t state, const char *path, const char **why);

/* TAKEN: 'text' is the path, 'state' the number of the state; FAILED: why. The text is there until heapask_end. */
HeapAskAnswer heapask_look (const HeapAsk *h, const char **text, uint64_t *state);

/* Takes the request back, if it is not done. */
void heapask_end (HeapAsk *h);

#endif
