/* SPDX-License-Identifier: MIT */
/*
** Composes the details of a batch of samples: the data about consecutive samples, and the events
** between them, for which VMProf has no record. They are the text of a private meta record
** "asamp.N". doc/profile-format.md has the grammar of this text.
**
** Owns the columns of the open batch (a column has one value of each sample), and the values to
** which the next differences refer. Independent of records, files and clocks. Invariants:
**
**   D1  entries of columns belong to samples by their order. The i-th entry of 'times', if that
**       column is present, belongs to the i-th sample of the batch. The i-th entries of 'sizes'
**       and, if present, of 'kinds' belong to the i-th allocation sample of the batch;
**   D2  events are in the order of the calls. An event is one line of UTF-8; outcomes are up to
**       three lines. Newlines in the program's texts are replaced;
**   D3  differences continue from batch to batch, so a batch cannot be read alone.
*/
#ifndef asamp_batch_h
#define asamp_batch_h

#include "sample.h"
#include "vmprof.h"

/* The samples and events whose text was not written yet (the open batch). All zero: nothing is
   recorded. Times are in us since the start of the profile. */
typedef struct Batch {
  uint64_t samples;      /* number of samples in the batch; a sample whose stack is written several
			    times counts once */
  Bytes times, kinds, sizes, counts, outside, labels, events;
  uint32_t label;        /* number of the label set of the last sample */
  uint64_t labelled;     /* number of consecutive samples with the label set 'label', up to the last
			    sample */
  uint64_t sampletime;   /* time of the last sample */
  uint64_t eventtime;    /* time of the last collection or marker */
  uint64_t state;        /* number of the state to which the last lines belong, plus 1; 0: none */
} Batch;

/*
** Adds a sample: its time if 'timed' is set (stock format), its number of periods, the number of
** copies of its stack that were written, and the number of its label set (0: none).
*/
void batch_sample (Batch *b, uint64_t us, int timed, uint64_t count,
                   uint32_t copies, uint32_t label);
/*
** Adds a label of a set that is new to the file. The labels of a set are added consecutively.
*/
void batch_label (Batch *b, uint32_t set, const char *name, const char *value);
/* Adds the exact bytes that the state (batch_of) allocated with label set 'set'. */
void batch_labelled (Batch *b, uint32_t set, uint64_t bytes);
/* Adds data of an allocation to the last sample: its size in bytes, its field 'outside'
   (ProfileSample), and its kind (negative: none). */
void batch_allocation (Batch *b, uint64_t size, int outside, int kind);

/* Adds the survival outcomes of n > 0 sampled objects, decided by a collection. 'classes' has the
   ids of their classes, or is NULL. */
void batch_fates (Batch *b, const unsigned char *survived,
                  const uint32_t *classes, size_t n);
/* Adds deaths of sampled objects that had survived; the arguments are those of encoder_deaths. */
void batch_deaths (Batch *b, const uint32_t *runs, size_t n);
/*
** Adds a collection. 'us' is c->time in us since the start, 'label' the number of its label set in
** the file. *before is the state's previous collection; this function replaces it by *c.
*/
void batch_collection (Batch *b, uint64_t us, const ProfileCollection *c, uint32_t label,
                       ProfileCollection *before);
/* In files of many states: assigns the following lines to a state. */
void batch_of (Batch *b, uint32_t id);
/* In files of many states: records the start of state 'id', and assigns the following lines to
   it. */
void batch_start (Batch *b, uint64_t us, uint32_t id);
/* In files of many states: records that the state (batch_of) now runs on that OS thread. */
void batch_thread (Batch *b, uint32_t thread);
/* In files of many states: records the name of the state (batch_of). */
void batch_called (Batch *b, const char *name, size_t n);
/* In files of many states: records that the state (batch_of) has allocated 'bytes'. */
void batch_allocated (Batch *b, uint64_t bytes);
/* In files of many states: records the end of the state (batch_of); the arguments are those of
   encoder_end. */
void batch_end (Batch *b, uint64_t us, uint64_t bytes, uint64_t orphans);
/* In files of many states: adds deaths among the orphans (samples of native memory that outlived
   their state) of state 'id'; the arguments are those of encoder_orphans. */
void batch_orphans (Batch *b, uint64_t us, uint32_t id, const uint32_t *runs, size_t n);
void batch_period (Batch *b, uint64_t period);
void batch_timeperiod (Batch *b, uint64_t ns, int wall);
void batch_class (Batch *b, uint32_t id, const char *name, size_t n);
void batch_path (Batch *b, uint64_t id, uint32_t parent, const char *step);
void batch_holders (Batch *b, const uint32_t *runs, size_t n);
/* Adds a walk over the heap that searched for the references that keep sampled objects alive
   (holders.h). It started 'us' after the start, and stopped the program for 'duration' us. */
void batch_walk (Batch *b, uint64_t us, uint64_t duration);
/* Adds one use of resident memory and its size, 'bytes'; encoder_resident describes the arguments.
   'us' is the time since the start; it is not stored as a difference. */
void batch_resident (Batch *b, uint64_t us, const char *what, size_t n, int64_t bytes,
                     const char *text, size_t m);
void batch_mark (Batch *b, uint64_t us, const char *name, size_t namelength,
                 const char *value, size_t valuelength);

/* Returns 1 if the number of samples of the open batch, or the size of its events, has reached the
   limit at which its text should be written. */
int batch_full (const Batch *b);
/* Appends the text about the samples and events of the batch to 'to' and starts a new batch.
   Returns 0 if the batch was empty. */
int batch_take (Batch *b, Bytes *to);
/* Returns 1 if memory ran out: the text is incomplete. */
int batch_failed (const Batch *b);
void batch_free (Batch *b);

#endif
