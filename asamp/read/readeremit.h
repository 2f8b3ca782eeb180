/* SPDX-License-Identifier: MIT */
/*
** From samples and fates to the client: who waits for a fate, who lives on, and
** what is told when (R4, R5).
*/
#ifndef asamp_readeremit_h
#define asamp_readeremit_h

#include "readerstate.h"

/* Tells the client that events begin, once. */
void readeremit_begin (ReaderState *s);
/* A sample to the client, and if it is of an allocation to the queue. */
void readeremit_copy (ReaderState *s, const ReadSample *sample);
void readeremit_sample (ReaderState *s, const ReadSample *sample);
/*
** Decides the oldest open sample, if there is one or was one; 'fate': 0 died,
** 1 survived, 2 survived and is not followed. 0: there is none left.
*/
int readeremit_decide (ReaderState *s, int fate, uint64_t class,
                       uint64_t time);
/* What was followed has died: 'place' and 'orphan' as those of ReadDeath. */
void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time);
/* Of those that are followed 'alive' stay and the next 'dead' die. */
void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                        uint64_t time);
void readeremit_collection (ReaderState *s, const ReadCollection *c);
/* At the end: the samples that wait have no fate. */
void readeremit_undecided (ReaderState *s);

#endif
