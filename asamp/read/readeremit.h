/* SPDX-License-Identifier: MIT */
/*
** Delivers the selected events to the client, and counts them in the ReadProfile. Updates the queue
** of samples whose survival is unknown, and the list of live survivors. A collection is delivered
** after the outcomes and deaths that it has found (R4 and R5 of reader.h). All functions work on
** s->of, the stream of the current Lua state.
*/
#ifndef asamp_readeremit_h
#define asamp_readeremit_h

#include "readerstate.h"

/* Calls the client's callback 'head', if it was not called yet. */
void readeremit_head (ReaderState *s);
/* Delivers a sample of copied bytes. */
void readeremit_copy (ReaderState *s, const ReadSample *sample);
/* Delivers an allocation or time sample. Queues an allocation sample until its survival is read. If
   the queue is full, delivers the oldest queued sample as READER_UNDECIDED. */
void readeremit_sample (ReaderState *s, const ReadSample *sample);
/* Delivers the survival of the oldest queued sample. If Fifo.passed > 0, the survival belongs
   to a sample that was taken out of the full queue: only decrements Fifo.passed (FI2 of fifo.h).
   Returns 0 if the queue is empty.
   fate   0: died; 1: survived; 2: survived, and the file does not record the death
   class  name of the class, an offset in ReadProfile.text; 0: none
   time   when the survival was decided */
int readeremit_decide (ReaderState *s, int fate, uint64_t class, uint64_t time);
/* Delivers the death of a survivor that was removed from the list of live survivors
   (readerfollow.h). 'time': time at which the block was found dead. 'place', 'orphan': values for
   the fields of ReadDeath with these names. */
void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time);
/* Continues the pass over the list of live survivors (readerfollow.h): keeps the next 'alive'
   samples, then removes the next 'dead' samples and delivers their deaths. 'time': time at which
   the blocks were found dead. */
void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead, uint64_t time);
/* Delivers a collection, and ends the current pass over the list of live survivors
   (readerfollow.h). */
void readeremit_collection (ReaderState *s, const ReadCollection *c);
/* Delivers all queued samples as READER_UNDECIDED. Called at the end of the file or of a Lua
   state. */
void readeremit_undecided (ReaderState *s);

#endif
