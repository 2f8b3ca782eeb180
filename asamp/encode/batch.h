/* SPDX-License-Identifier: MIT */
/*
** Composes the details of a batch of samples: the data for which the VMProf format has no record.
** The details are the text of a private meta record "asamp.N" (grammar in doc/profile-format.md):
** columns with values of the samples, then events. Each column and each event is a line.
**
**   D1  values in columns are in the order of the samples. 'times' has a value for each sample of
**       the batch, 'sizes' and 'kinds' for each allocation sample. A value of 'counts' or 'outside'
**       follows the number of its sample;
**   D2  events are in the order of the calls, as lines of UTF-8. Newlines in the program's texts
**       are replaced;
**   D3  the first numbers of a batch may be differences to numbers of the previous batch, so a
**       batch cannot be read alone.
*/
#ifndef asamp_batch_h
#define asamp_batch_h

#include "sample.h"
#include "vmprof.h"

/* The batch that is being filled. All zero: an empty batch. Times are in us since the start of the
   log. */
typedef struct Batch {
  uint64_t samples;      /* number of samples; a sample with several copies of its stack counts
                            once */
  Bytes times, kinds, sizes, counts, outside, labels, events;
  uint32_t label;        /* number of the label set of the batch's last sample; 0: no labels */
  uint64_t labelled;     /* number of successive samples with the label set 'label' at the end of
                            the batch */
  uint64_t sampletime;   /* time of the last sample, which may be in an earlier batch */
  uint64_t eventtime;    /* time of the last collection, mark, start or end of a state, which may be
                            in an earlier batch */
  uint64_t state;        /* number + 1 of the state selected by batch_of; 0: none */
} Batch;

/* Adds a sample that represents 'count' sampling periods and has 'copies' stack records. Writes its
   time 'us' only if 'timed' is 1. 'label' is the number of its label set; 0: no labels. */
void batch_sample (Batch *b, uint64_t us, int timed, uint64_t count,
                   uint32_t copies, uint32_t label);
/* Adds a label of a new set. All labels of a set are added consecutively. */
void batch_label (Batch *b, uint32_t set, const char *name, const char *value);
/* Adds the exact bytes that the selected state (batch_of) allocated with a label set. */
void batch_labelled (Batch *b, uint32_t set, uint64_t bytes);
/* Adds data of the last sample, an allocation: its size in bytes, 'outside' (1: outside the
   nursery), and its kind (negative: none). */
void batch_allocation (Batch *b, uint64_t size, int outside, int kind);

/* Adds the outcomes of n > 0 samples. 'classes' has the classes (names of metatables) of the
   sampled objects, or is NULL. survived[i] is 0 if sample i died, 1 if it survived its first
   collection, 2 if it survived and its death will not be reported. */
void batch_fates (Batch *b, const unsigned char *survived,
                  const uint32_t *classes, size_t n);
/* Adds deaths of survivors: n run lengths, alternately of live and of dead samples. */
void batch_deaths (Batch *b, const uint32_t *runs, size_t n);
/* Adds a collection that ended at 'us'. Writes some of its numbers as differences to *before, the
   state's previous collection. Then updates *before for the state's next collection. 'label' is the
   number, in the file, of the label set that was set when the collection ran; 0: no labels. */
void batch_collection (Batch *b, uint64_t us, const ProfileCollection *c, uint32_t label,
                       ProfileCollection *before);
/* Selects the state whose events are added next. Needed only if a file has many states. */
void batch_of (Batch *b, uint32_t id);
/* Records the start of a state, and selects this state as batch_of does. */
void batch_start (Batch *b, uint64_t us, uint32_t id);
/* Records that the OS thread 'thread' now runs the selected state (batch_of). */
void batch_thread (Batch *b, uint32_t thread);
/* Records the name of the selected state (batch_of). */
void batch_called (Batch *b, const char *name, size_t n);
/* Records the bytes that the selected state (batch_of) has allocated. */
void batch_allocated (Batch *b, uint64_t bytes);
/* Records the end of the selected state (batch_of), which has allocated 'bytes' bytes. 'orphans' is
   the number of its samples of native memory that are still alive. */
void batch_end (Batch *b, uint64_t us, uint64_t bytes, uint64_t orphans);
/* Adds deaths of an ended state's samples of native memory (encoder_orphans). */
void batch_orphans (Batch *b, uint64_t us, uint32_t id, const uint32_t *runs, size_t n);
void batch_period (Batch *b, uint64_t period);
void batch_timeperiod (Batch *b, uint64_t ns, int wall);
void batch_class (Batch *b, uint32_t id, const char *name, size_t n);
void batch_path (Batch *b, uint64_t id, uint32_t parent, const char *step);
void batch_holders (Batch *b, const uint32_t *runs, size_t n);
/* Adds a heap walk (encoder_walk) that started at 'us' and paused the program for 'duration' us. */
void batch_walk (Batch *b, uint64_t us, uint64_t duration);
/* Adds a row of a snapshot of resident memory (encoder_resident). All rows with equal times form a
   snapshot, so a row has the time itself, not the difference to the previous event. */
void batch_resident (Batch *b, uint64_t us, const char *what, size_t n, int64_t bytes,
                     const char *text, size_t m);
void batch_mark (Batch *b, uint64_t us, const char *name, size_t namelength,
                 const char *value, size_t valuelength);

/* Returns 1 if the batch should be written: it has many samples or many bytes of events. */
int batch_full (const Batch *b);
/* Appends the text of the batch to 'to', and starts a new batch. Returns 0 if there was nothing to
   append. */
int batch_take (Batch *b, Bytes *to);
/* Returns 1 if memory ran out, so that the text of the batch is incomplete. */
int batch_failed (const Batch *b);
void batch_free (Batch *b);

#endif
