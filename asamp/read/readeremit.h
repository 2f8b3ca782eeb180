/* SPDX-License-Identifier: MIT */
/*
** Delivers events to the client, if the client selects them (ReaderClient), and adds them to the
** counts of the ReadProfile. An allocation sample is delivered first when it is read, and again
** with its survival outcome; deaths come before the collection that found them (R4 and R5 of
** reader.h). Updates the queue of samples without an outcome, and the list of survivors whose death
** the file records. All functions work on the current stream s->of, the reader's data of one Lua
** state. Used only by the files that implement reader.h.
*/
#ifndef asamp_readeremit_h
#define asamp_readeremit_h

#include "readerstate.h"

/* Calls the client's 'head' if it has not been called before. */
void readeremit_head (ReaderState *s);
/* Delivers a sample of copied bytes (ReaderClient.copy). */
void readeremit_copy (ReaderState *s, const ReadSample *sample);
/*
** Delivers an allocation or time sample. Queues an allocation sample in s->of->open until its
** survival outcome is read. If the queue is full, first delivers the oldest queued sample as one
** without an outcome (FI1). If the stream is shared by the states beyond the limit (RS1), delivers
** the new sample at once as one without an outcome.
*/
void readeremit_sample (ReaderState *s, const ReadSample *sample);
/*
** Delivers the survival outcome of the oldest sample in s->of->open, and removes the sample from
** this queue. If that sample was removed because the queue was full, drops the outcome (FI2).
** 'fate': 0 died, 1 survived, 2 survived and the file records no death of it. 'class': offset of
** the class name in ReadProfile.text, 0: none. 'time': the time of the decision. Returns 0 if the
** queue is empty, or if the stream is shared by the states beyond the limit (RS1).
*/
int readeremit_decide (ReaderState *s, int fate, uint64_t class,
                       uint64_t time);
/*
** Delivers the death of a survivor, which the caller has removed from the list of followed samples
** (readerfollow.h). Delivers nothing if the entry has no sample (count 0). 'place' and 'orphan' are
** as in ReadDeath.
*/
void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time);
/*
** Continues a pass over the list of followed samples s->of->follow (readerfollow.h): keeps the next
** 'alive' samples, then removes the 'dead' samples after them and delivers their deaths.
*/
void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                        uint64_t time);
/*
** Delivers a collection, with the numbers of samples whose survival was decided since the previous
** collection. Also ends the pass over the list of followed samples (readerfollow.h).
*/
void readeremit_collection (ReaderState *s, const ReadCollection *c);
/* Delivers all samples in s->of->open as samples without a survival outcome, at the end of the file
   or of the state. */
void readeremit_undecided (ReaderState *s);

#endif
