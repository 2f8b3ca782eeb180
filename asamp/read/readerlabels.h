/* SPDX-License-Identifier: MIT */
/*
** Reads label sets from the lines B of the details. The file numbers the sets 1, 2, ... in the
** order of their lines; the lines of a set, one for each label, are adjacent. Used only by the
** files of reader.h.
*/
#ifndef asamp_readerlabels_h
#define asamp_readerlabels_h

#include "details.h"
#include "readerstate.h"

/* Reads all lines B of a batch. Must be called before its samples, which have these sets. */
void readerlabels_read (ReaderState *s, Fields events);

/* Returns the file's set number 'id' as in ReadSample.labels; 0 if it was dropped or not read. */
uint32_t readerlabels_set (const ReaderState *s, uint64_t id);

/* Returns 1 if the client does not want events with this label set (0: without labels). */
int readerlabels_unwanted (const ReaderState *s, uint32_t set);

#endif
