/* SPDX-License-Identifier: MIT */
/*
** Writes the object records (0x0A) of profiles in the extended format, version 7. Each record lists
** sampled objects and whether they survived their first collection. Sampled objects that are in no
** record yet are queued.
**
**   O1  the records list the objects in the order of their stacks in the file. An object has one
**       word for each copy of its stack. An object is undecided until its outcome is known. Objects
**       undecided at the end of the profile are written as dead;
**   O2  if OBJECTS_MAXOPEN objects are queued, all are written, undecided ones as dead, and the
**       later outcomes of the undecided ones are ignored;
**   O3  a record has at most VMPROF_MAXWORDS words: objects, the newest first, then the four
**       statistics objects_stats.
*/
#ifndef asamp_objects_h
#define asamp_objects_h

#include "sample.h"
#include "vmprof.h"

#define OBJECTS_MAXOPEN		(1u << 20)
#define OBJECTS_NSTATS		4

/* The queue of sampled objects that are not written yet, that is, are in no object record of the
   file. If all bytes are 0, it is empty. */
typedef struct Objects {
  struct OpenObject {
    /* The word for the object in its record. Bit 0 (1: the object survived) is set when the word is
       written. */
    uint32_t word;
    uint32_t copies;     /* number of copies of the sample's stack in the file, at least 1 */
  } *open;               /* oldest first */
  size_t n, size;
  uint64_t early;        /* How many of the oldest undecided objects were written as dead, because
                            the queue was full. Their outcomes will be ignored. */
  Bytes fates;           /* outcomes of the oldest objects in 'open', one byte each. 0: died at the
                            first collection, 1: survived */
  int state;             /* the statistic gc_state (phase of the major collection) in the newest
                            record */
  int failed;            /* 1: there was not enough memory */
} Objects;

/* Names of the statistics at the end of a record, in their order. */
extern const char *const objects_stats[OBJECTS_NSTATS];

/* Returns 1 if the queue is full. In this case, call objects_write before objects_add. */
int objects_full (const Objects *o);
/* Adds the object of an allocation sample to the queue. 'outside' 1: the object is outside the
   nursery. 'copies': number of copies of the sample's stack. Sets o->failed if out of memory. */
void objects_add (Objects *o, int kind, int outside, uint32_t copies);
/* Stores the outcomes of the n oldest undecided objects. 0: died, 1: survived. */
void objects_fates (Objects *o, const unsigned char *survived, size_t n);

/* Writes records with the objects whose outcome is known, or with all objects if 'all' is 1, and
   removes these objects from the queue. 'time': time of the records (CLOCK_MONOTONIC, ns). *c has
   the values of the statistics. */
void objects_write (Objects *o, int all, uint64_t time, const ProfileCollection *c, Bytes *to);
void objects_free (Objects *o);

#endif
