/* SPDX-License-Identifier: MIT */
/*
** Delivers events to the client, if it wants them, in the order of R4 and R5 (reader.h), and adds
** them to the counts of the ReadProfile. Updates the queue of undecided samples and the list of
** followed samples. All functions work on the stream s->of. Used only by the files that implement
** reader.h.
*/
#ifndef asamp_readeremit_h
#define asamp_readeremit_h

#include "readerstate.h"

/* Calls the client's 'head' if it has not been called. */
void readeremit_head (ReaderState *s);
/* Delivers a sample of copied bytes (ReaderClient.copy). */
void readeremit_copy (ReaderState *s, const ReadSample *sample);
/* Delivers an allocation or time sample. Queues an allocation sample in s->of->open until its
   outcome is read; if the queue is full, first delivers the oldest queued sample as undecided
   (FI1). If the stream is blind (RS1), delivers the new sample as undecided at once instead. */
void readeremit_sample (ReaderState *s, const ReadSample *sample);
/*
** Delivers the outcome of the oldest undecided sample of the stream, and removes the sample from
** the queue. If that sample was given up, the outcome is dropped (FI2). 'fate': 0 died, 1 survived,
** 2 survived and is not followed. 'class': offset of the class name in 'text', 0: none. 'time': the
** time of the decision. Returns 0 if no sample is undecided, or if the stream is blind (RS1).
*/
int readeremit_decide (ReaderState *s, int fate, uint64_t class,
                       uint64_t time);
/*
** Delivers the death of a followed sample, which the caller has removed from its list. Delivers
** nothing if the entry has no sample (count 0). 'place' and 'orphan' are as in ReadDeath.
*/
void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time);
/*
** Continues a pass over s->of->follow: keeps the next 'alive' samples, then removes the 'dead'
** samples after them and delivers their deaths.
*/
void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                        uint64_t time);
/*
** Delivers a collection, with the numbers of samples decided since the previous collection. Also
** ends the pass over s->of->follow.
*/
void readeremit_collection (ReaderState *s, const ReadCollection *c);
/* Delivers all samples in s->of->open as undecided, at the end of the file or of the state. */
void readeremit_undecided (ReaderState *s);

#endif
