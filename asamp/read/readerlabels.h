/* SPDX-License-Identifier: MIT */
/*
** Sets of labels (lines 'B' of the details). A set has the number that the file gives
** it: they come in turn, the labels of one together. Of reader.h's files alone.
*/
#ifndef asamp_readerlabels_h
#define asamp_readerlabels_h

#include "details.h"
#include "readerstate.h"

/* All lines of that sort in the events of a batch, which may be of its samples. */
void readerlabels_read (ReaderState *s, Fields events);

/* The number in ReadProfile.labelsets, from 1 on, of what a file calls so; 0: none. */
uint32_t readerlabels_set (const ReaderState *s, uint64_t id);

/* 1: the client does not want what has these labels. */
int readerlabels_unwanted (const ReaderState *s, uint32_t set);

#endif
