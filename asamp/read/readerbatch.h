/* SPDX-License-Identifier: MIT */
/*
** Reads the details of samples in profiles written by asamp. There, the stacks of samples are
** binary records. The other data of samples (size, type, survival outcome), and the events, are in
** texts, the details (details.h). A details text describes one batch: the samples whose stacks come
** after the previous text. The text has columns of numbers, which together with the stacks queued
** in ReaderState.runs give the samples, and then a list of lines, one for each event. The first
** letter of a line is its type.
*/
#ifndef asamp_readerbatch_h
#define asamp_readerbatch_h

#include "readerstate.h"

/*
** Reads the details text of n bytes at 'text': delivers its samples, then its events, and empties
** 'runs'. Returns 0 if the text does not match the grammar (doc/profile-format.md) or the queued
** stacks; some of its events may have been delivered by then.
*/
int readerbatch_read (ReaderState *s, const char *text, size_t n);

#endif
