/* SPDX-License-Identifier: MIT */
/*
** The details of a batch of samples: the text of a private meta "asamp.N",
** put together. Its grammar is in doc/profile-format.md.
**
** Owns the columns of the batch that is open, and what the next differences
** count from. Knows no record, no file and no clock. Invariants:
**   D1  the i-th entry of 'times' belongs to the i-th sample of the batch, the
**       i-th of 'kinds' and of 'sizes' to its i-th allocation sample;
**   D2  events stand in the order of the calls; every line is ASCII or UTF-8
**       and ends where its event does: no text of the program's has a newline
**       in here;
**   D3  differences go on from batch to batch: a batch alone cannot be read.
*/
#ifndef asamp_batch_h
#define asamp_batch_h

#include "sample.h"
#include "vmprof.h"

/* All zero: nothing has happened. Times are us since the start. */
typedef struct Batch {
  uint64_t samples;      /* in the open batch, a repeated one once */
  Bytes times, kinds, sizes, counts, outside, labels, events;
  uint32_t label;        /* of the last samples, ... */
  uint64_t labelled;     /* ... so many in a row */
  uint64_t sampletime;   /* of the last sample */
  uint64_t eventtime;    /* of the last collection or marker */
  uint64_t state;        /* whose events the last lines are, and one more; 0: nobody's */
} Batch;

/*
** The next sample: its time (stock: 'timed'), its count, how many copies of its stack
** were written, and the number of its set of labels, 0: none.
*/
void batch_sample (Batch *b, uint64_t us, int timed, uint64_t count,
                   uint32_t copies, uint32_t label);
/* A label of that set, which no sample has had; those of one set together. */
void batch_label (Batch *b, uint32_t set, const char *name, const char *value);
/* It is one of allocation; its kind is listed when 'kind' >= 0. */
void batch_allocation (Batch *b, uint64_t size, int outside, int kind);

/* 'classes' may be NULL; n > 0. */
void batch_fates (Batch *b, const unsigned char *survived,
                  const uint32_t *classes, size_t n);
/* As encoder_deaths. */
void batch_deaths (Batch *b, const uint32_t *runs, size_t n);
/* 'us' is c->time, 'label' the file's number of its set; *before is the state's last
   collection, which becomes this one. */
void batch_collection (Batch *b, uint64_t us, const ProfileCollection *c, uint32_t label,
                       ProfileCollection *before);
/* Files of many states: what follows is that one's, ... */
void batch_of (Batch *b, uint32_t id);
/* ... which begins; runs on another OS thread; has a name; has allocated so much; ends. */
void batch_begin (Batch *b, uint64_t us, uint32_t id);
void batch_thread (Batch *b, uint32_t thread);
void batch_called (Batch *b, const char *name, size_t n);
void batch_allocated (Batch *b, uint64_t bytes);
void batch_end (Batch *b, uint64_t us, uint64_t bytes, uint64_t orphans);
void batch_orphans (Batch *b, uint64_t us, uint32_t id, const uint32_t *runs, size_t n);
void batch_period (Batch *b, uint64_t period);
void batch_timeperiod (Batch *b, uint64_t ns, int wall);
void batch_class (Batch *b, uint32_t id, const char *name, size_t n);
void batch_path (Batch *b, uint64_t id, uint32_t parent, const char *step);
void batch_holders (Batch *b, const uint32_t *runs, size_t n);
/* 'duration' in us. */
void batch_walk (Batch *b, uint64_t us, uint64_t duration);
/* 'us' since the start: no difference. */
void batch_resident (Batch *b, uint64_t us, const char *what, size_t n, int64_t bytes,
                     const char *text, size_t m);
void batch_mark (Batch *b, uint64_t us, const char *name, size_t namelength,
                 const char *value, size_t valuelength);

/* 1 when so much has gathered that the batch should end. */
int batch_full (const Batch *b);
/* Appends the text to 'to' and begins a new batch; 0: there was nothing. */
int batch_take (Batch *b, Bytes *to);
/* 1 when memory ran out: something is missing. */
int batch_failed (const Batch *b);
void batch_free (Batch *b);

#endif
