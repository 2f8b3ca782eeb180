/* SPDX-License-Identifier: MIT */
/*
** Reads label sets (lines 'B' of the details). The file numbers the sets consecutively, and the
** labels of a set are together. Used only by the files of reader.h.
*/
#ifndef asamp_readerlabels_h
#define asamp_readerlabels_h

#include "details.h"
#include "readerstate.h"

/* Reads all such lines of a batch, before its samples, which may have these sets. */
void readerlabels_read (ReaderState *s, Fields events);

/* Returns the index in ReadProfile.labelsets, from 1 on, of the file's set 'id'; 0: none. */
uint32_t readerlabels_set (const ReaderState *s, uint64_t id);

/* Returns 1 if the client does not want samples with this label set. */
int readerlabels_unwanted (const ReaderState *s, uint32_t set);

#endif
