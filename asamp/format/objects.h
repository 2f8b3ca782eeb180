/* SPDX-License-Identifier: MIT */
/*
** The objects of the extended format: sampled objects that wait for the collection that decides
** whether they survive, and the object records (0x0A).
**
** This module has the queue of undecided objects; it does not use stacks or metas. Invariants:
**   O1  every stack has one object for each of its copies, in the same order; an object that no
**       collection decides is written as dead;
**   O2  if more than OBJECTS_MAXOPEN objects wait, the oldest are written as dead; their survival
**       outcomes are ignored later;
**   O3  a record has at most VMPROF_MAXWORDS words: the newest object first, the four
**       statistics last.
*/
#ifndef asamp_objects_h
#define asamp_objects_h

#include "sample.h"
#include "vmprof.h"

#define OBJECTS_MAXOPEN		(1u << 20)
#define OBJECTS_NSTATS		4

/* A queue that is all zero is empty. */
typedef struct Objects {
  struct OpenObject {
    uint32_t word;       /* word of the record, without the bit 'survived' */
    uint32_t copies;
  } *open;               /* the oldest first */
  size_t n, size;
  uint64_t early;        /* number of objects already written as dead whose survival outcomes are
			    still to come */
  Bytes fates;           /* survival outcomes of the oldest objects, one byte each */
  int state;             /* gc_state of the last record */
  int failed;            /* 1: there was not enough memory */
} Objects;

/* Names of the statistics of a record, in their order. */
extern const char *const objects_stats[OBJECTS_NSTATS];

/*
** Returns 1 if the queue is full. The caller then writes the oldest objects before it adds
** another one.
*/
int objects_full (const Objects *o);
void objects_add (Objects *o, int kind, int outside, uint32_t copies);
void objects_fates (Objects *o, const unsigned char *survived, size_t n);

/*
** Appends to 'to' the records of the objects whose survival outcome is known ('all': of all
** objects), with the time 'time' (CLOCK_MONOTONIC, ns) and the statistics of 'c'. If there are no
** such objects, nothing is written.
*/
void objects_write (Objects *o, int all, uint64_t time,
                    const ProfileCollection *c, Bytes *to);
void objects_free (Objects *o);

#endif
