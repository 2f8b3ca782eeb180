/* SPDX-License-Identifier: MIT */
/*
** Writes the object records (0x0A) of the extended format (version 7 of a VMProf log), and has the
** queue of the sampled objects that are not in a record yet. An object is undecided until a
** collection has decided whether it survives. This module does not use stacks or meta records.
** Invariants:
**   O1  the records have one object for each stack of an allocation sample, copies included, in
**       the order of the stacks; an object that no collection decides is written as dead;
**   O2  if OBJECTS_MAXOPEN objects are queued, all are written. The undecided ones are written as
**       dead, and their survival outcomes are ignored later;
**   O3  a record has at most VMPROF_MAXWORDS words: the newest object first, the four
**       statistics last.
*/
#ifndef asamp_objects_h
#define asamp_objects_h

#include "sample.h"
#include "vmprof.h"

#define OBJECTS_MAXOPEN		(1u << 20)
#define OBJECTS_NSTATS		4

/* The queue of the sampled objects that are not in a record yet. All zero: empty. */
typedef struct Objects {
  struct OpenObject {
    /* the object's word in the record; bit 0 ("survived") is added when the word is written */
    uint32_t word;
    uint32_t copies;     /* number of stacks of the sample, at least 1 */
  } *open;               /* objects that are not in a record yet, the oldest first */
  size_t n, size;
  uint64_t early;        /* number of survival outcomes to ignore when they arrive: those of objects
                            that were written as dead before a collection had decided them (O2) */
  Bytes fates;           /* survival outcomes of the oldest objects in 'open', one byte each; 0:
                            died */
  int state;             /* value of the statistic gc_state in the last record */
  int failed;            /* 1: there was not enough memory */
} Objects;

/* Names of the statistics of a record, in their order. */
extern const char *const objects_stats[OBJECTS_NSTATS];

/*
** Returns 1 if the queue is full. The caller then writes all objects (objects_write) before it
** adds another one.
*/
int objects_full (const Objects *o);
/* Adds the object of a sample; 'copies' >= 1. Sets 'failed' if there is not enough memory. */
void objects_add (Objects *o, int kind, int outside, uint32_t copies);
/* Adds the next n survival outcomes, in the order of the objects; 0: died. Ignores the outcomes of
   objects that were written as dead before a collection had decided them (O2). */
void objects_fates (Objects *o, const unsigned char *survived, size_t n);

/*
** Removes the objects whose survival outcome is known, or all objects if 'all' is set, from the
** queue, and appends their records to 'to'. The records have the time 'time' (CLOCK_MONOTONIC, ns)
** and the statistics of 'c'. If there are no such objects, nothing is appended.
*/
void objects_write (Objects *o, int all, uint64_t time,
                    const ProfileCollection *c, Bytes *to);
void objects_free (Objects *o);

#endif
