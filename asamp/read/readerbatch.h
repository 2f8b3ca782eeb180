/* SPDX-License-Identifier: MIT */
/*
** Reads the details of own files, which come in batches. A batch has columns of numbers, which
** together with the stacks queued in ReaderState.runs give samples, and then a list of events.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/*
** Reads the batch in the n bytes at 'text': delivers its samples, then its events, and empties
** 'runs'. Returns 0 if the batch does not match the grammar or the queued stacks; some of its
** events may have been delivered by then.
*/
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
