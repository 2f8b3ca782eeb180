/* SPDX-License-Identifier: MIT */
/*
** The objects of the extended flavour: words of sampled objects that wait for
** the collection which decides their fate, and the object records (0x0A).
**
** Owns the queue of open objects. Knows neither stacks nor metas. Invariants:
**   O1  every stack has one object for each of its copies, in the same order,
**       also one that no collection decides (written as dead);
**   O2  of more than OBJECTS_MAXOPEN objects that wait the oldest are given up
**       (written as dead); their fates are passed over when they come;
**   O3  a record has at most VMPROF_MAXWORDS words, the newest object first,
**       the four statistics last.
*/
#ifndef asamp_objects_h
#define asamp_objects_h

#include "sample.h"
#include "vmprof.h"

#define OBJECTS_MAXOPEN		(1u << 20)
#define OBJECTS_NSTATS		4

/* All zero: none. */
typedef struct Objects {
  struct OpenObject {
    uint32_t word;       /* without the survived bit */
    uint32_t copies;
  } *open;               /* oldest first */
  size_t n, size;
  uint64_t early;        /* given up, their fates still to come */
  Bytes fates;           /* of the oldest, a byte each */
  int state;             /* of the last record */
  int failed;            /* memory ran out */
} Objects;

/* Names of the statistics of a record, in their order. */
extern const char *const objects_stats[OBJECTS_NSTATS];

/* 1 when the next one makes the oldest be given up: write them first. */
int objects_full (const Objects *o);
void objects_add (Objects *o, int kind, int outside, uint32_t copies);
void objects_fates (Objects *o, const unsigned char *survived, size_t n);

/*
** Appends the record of the objects whose fate is known, or of 'all', at that
** time (monotonic, ns), with the statistics of 'c'; several if need be; none if
** there are no such objects.
*/
void objects_write (Objects *o, int all, uint64_t time,
                    const ProfileCollection *c, Bytes *to);
void objects_free (Objects *o);

#endif
