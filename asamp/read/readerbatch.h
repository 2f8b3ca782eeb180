/* SPDX-License-Identifier: MIT */
/*
** Reads the batches in asamp's files. A batch describes samples; their stacks are binary records
** before the batch. A batch is a text (details.h): first columns of numbers with the sizes and
** types of these samples, then events as lines, such as the survival of samples. The first letter
** of a line is its type.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/* Reads a batch, a text of n bytes: delivers its samples and events, and empties the queue of
   stacks. Returns 0 if the text does not match the grammar or the queued stacks. */
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
