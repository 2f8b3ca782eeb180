/* SPDX-License-Identifier: MIT */
/* Reads label sets from the batches of details (readerbatch.h). The file numbers the sets 1, 2, ...
   and has one line of type B for each label of a set. */
#ifndef asamp_readerlabels_h
#define asamp_readerlabels_h

#include "details.h"
#include "readerstate.h"

/* Reads all lines "B" of a batch: each has one label of a label set (doc/profile-format.md). Must
   be called before the samples of the batch are delivered, because they refer to label sets. */
void readerlabels_read (ReaderState *s, Fields events);

/* Converts the number of a label set in the file to a value for ReadSample.labels. Returns 0 (no
   labels) if the set was dropped or is unknown. */
uint32_t readerlabels_set (const ReaderState *s, uint64_t id);

/* Returns 1 if the client does not select this label set (0: no labels). */
int readerlabels_unwanted (const ReaderState *s, uint32_t set);

#endif
