/* SPDX-License-Identifier: MIT */
/*
** Reads the details of own files. A batch has columns, which are joined with the stacks queued in
** ReaderState.runs and give samples, and then events.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/*
** Reads the batch in the n bytes at 'text': delivers its samples, then its events, and empties
** 'runs'. Returns 0 if it does not match the grammar or the queued stacks; events may have been
** delivered before.
*/
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
