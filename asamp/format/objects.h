/* SPDX-License-Identifier: MIT */
/*
** Writes the object records (0x0A) of the extended format, and queues the sampled objects not in a
** record yet.
**
**   O1  there is one object for each stack of an allocation sample, copies included, in the order
**       of the stacks. An object is undecided until its outcome is known; at the end it is written
**       as dead;
**   O2  if OBJECTS_MAXOPEN objects are queued, all are written, undecided ones as dead, and their
**       later outcomes are ignored;
**   O3  a record has at most VMPROF_MAXWORDS words: newest object first, four statistics last.
*/
#ifndef asamp_objects_h
#define asamp_objects_h

#include "sample.h"
#include "vmprof.h"

#define OBJECTS_MAXOPEN		(1u << 20)
#define OBJECTS_NSTATS		4

/* The queue of sampled objects that are in no record yet. If all bytes are 0, it is empty. */
typedef struct Objects {
  struct OpenObject {
    /* The object as a word of a record. Bit 0 (1: survived) is added when the word is written. */
    uint32_t word;
    uint32_t copies;     /* number of stacks of the allocation sample, at least 1 */
  } *open;               /* oldest first */
  size_t n, size;
  uint64_t early;        /* number of oldest objects without an outcome that were already written as
                            dead, because the queue was full: their outcomes are ignored */
  Bytes fates;           /* whether the oldest objects in the queue survived their first collection,
                            one byte each; 0: died, 1: survived */
  int state;             /* gc_state (phase of the major collection) in the record written last */
  int failed;            /* 1: there was not enough memory */
} Objects;

/* Names of the statistics, in order. */
extern const char *const objects_stats[OBJECTS_NSTATS];

/* Returns 1 if the queue is full: call objects_write first. */
int objects_full (const Objects *o);
/* Adds the object of an allocation sample to the queue. 'outside' 1: it is outside the nursery;
   'copies': number of the sample's stacks. Sets 'failed' if out of memory. */
void objects_add (Objects *o, int kind, int outside, uint32_t copies);
/* Records whether the n oldest objects without an outcome survived (0: died, 1: survived). */
void objects_fates (Objects *o, const unsigned char *survived, size_t n);

/* Writes the objects known to have died or survived ('all' 1: all objects) as records with the time
   'time' (CLOCK_MONOTONIC, ns) and the statistics in *c, and removes them from the queue. */
void objects_write (Objects *o, int all, uint64_t time,
                    const ProfileCollection *c, Bytes *to);
void objects_free (Objects *o);

#endif
