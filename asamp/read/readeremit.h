/* SPDX-License-Identifier: MIT */
/*
** Delivers samples and outcomes to the client in the right order (R4, R5), and keeps undecided
** and followed samples.
*/
#ifndef asamp_readeremit_h
#define asamp_readeremit_h

#include "readerstate.h"

/* Calls the client's 'head', once. */
void readeremit_head (ReaderState *s);
/* Deliver a copy, and a sample; an allocation sample is also put in the queue. */
void readeremit_copy (ReaderState *s, const ReadSample *sample);
void readeremit_sample (ReaderState *s, const ReadSample *sample);
/*
** Decides the oldest undecided sample, also one that was given up; 'fate': 0 died, 1 survived,
** 2 survived and is not followed. Returns 0 if there is none.
*/
int readeremit_decide (ReaderState *s, int fate, uint64_t class,
                       uint64_t time);
/* Delivers the death of a followed sample; 'place' and 'orphan' as in ReadDeath. */
void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time);
/*
** Of the followed samples, keeps the next 'alive' ones and delivers the deaths of 'dead' ones
** after them.
*/
void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                        uint64_t time);
void readeremit_collection (ReaderState *s, const ReadCollection *c);
/* At the end: delivers the remaining samples of the queue as undecided. */
void readeremit_undecided (ReaderState *s);

#endif
