/* SPDX-License-Identifier: MIT */
/*
** Reads label sets from the lines B of the details (readerbatch.h). The file numbers the sets 1, 2,
** ... in the order of their lines. The lines of a set, one for each label, are adjacent. Used only
** by the files that implement reader.h.
*/
#ifndef asamp_readerlabels_h
#define asamp_readerlabels_h

#include "details.h"
#include "readerstate.h"

/* Reads all lines B of a details text. Must be called before the samples of the text are read,
   because the samples refer to these label sets. */
void readerlabels_read (ReaderState *s, Fields events);

/* Converts the number of a label set in the file to the value for ReadSample.labels. Returns 0 if
   the set was dropped or has not been read. */
uint32_t readerlabels_set (const ReaderState *s, uint64_t id);

/* Returns 1 if the client does not select events with this label set (0: without labels). */
int readerlabels_unwanted (const ReaderState *s, uint32_t set);

#endif
