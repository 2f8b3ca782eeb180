/* SPDX-License-Identifier: MIT */
/*
** Reads the details of samples in asamp's files. The stacks of a batch of samples are binary
** records; then a text (details.h) has the sizes, types and outcomes of these samples as columns
** of numbers, and events as lines. The first letter of a line is its type.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/* Reads the details of a batch, a text of n bytes: delivers the samples and events, and empties the
   queue of stacks. Returns 0 if the text does not match the grammar or the queued stacks. */
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
