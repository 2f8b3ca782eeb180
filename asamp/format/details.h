/* SPDX-License-Identifier: MIT */
/*
** Parser for the details of samples. In asamp's profiles, stacks are binary records. Sizes, types
** and outcomes of samples, and all events, are texts in meta records "asamp.1", "asamp.2", ... Such
** a text describes one batch: the samples whose stacks precede it in the file.
**
** The parser allocates nothing: a Fields points into the text. doc/profile-format.md has the
** grammar.
*/
#ifndef asamp_details_h
#define asamp_details_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Value of the record "asamp.format" in a profile of one Lua state: the version of the texts that
   describe batches of samples. Readers also accept the older version "2". */
#define DETAILS_FORMATTEXT	"3"
/* Version of the texts that describe batches of samples, in a profile of many Lua states: as a
   number, and as the value of the record "asamp.format". */
#define DETAILS_STATES		4
#define DETAILS_STATESTEXT	"4"

/* The unread part of a list of numbers, letters or lines. */
typedef struct Fields {
  const char *p, *end;
} Fields;

/* The lists of numbers in the text of a batch of samples. A list that the text lacks is empty. */
typedef struct Details {
  uint64_t samples;       /* number of samples */
  Fields times;           /* time from the previous sample to each sample, us; only in files for
                             VMProf's tools (version 6) */
  Fields kinds;           /* type of each allocation sample, one letter: 'a' for type 0; only in
                             files of version 7, for forks of VMProf */
  Fields sizes;           /* size of the block of each allocation sample, bytes */
  /* The samples that represent several sampling periods. The list has three numbers for each: its
     number in the batch (from 1), the number of periods, and the number of copies of its stack in
     the file. */
  Fields counts;
  Fields outside;         /* number in the batch (from 1) of each sample whose block is outside the
                             nursery (the area for new objects) */
  Fields labels;          /* for each run of successive samples with the same set of labels: the
                             number of samples, and the number of the set */
  Fields events;          /* the lines about events, for details_event */
} Details;

/* Splits the text of a batch, n bytes, into its lists. Returns 0 if the text does not start with "n
   NUMBER", the number of samples. */
int details_split (Details *d, const char *text, size_t n);

/* Reads the next number of a list. Returns 0 and reads nothing at the end of the list, or if the
   number does not fit in *n. */
int details_number (Fields *f, uint64_t *n);
/* Like details_number, also for negative numbers. */
int details_signed (Fields *f, int64_t *n);

/* The numbers in the line of a collection. Fields with names of ProfileCollection (sample.h) have
   the same meaning; times are in us, sizes in bytes. */
typedef struct Collected {
  int64_t time;              /* end of the collection, us after the time of the previous line with
                                the letter g, G (end of a collection), m, N or X */
  /* Bytes in use, bytes reserved for the heap, and resident bytes of the process. Each is the
     difference from the previous collection. */
  int64_t inuse, held, rss;
  uint64_t duration;
  uint64_t tenured;
  uint64_t state, minors, majors;
  uint64_t left;
  uint64_t label;            /* number of a set of labels in the file; 0: none */
  uint64_t processor;
  uint64_t slices;
  uint64_t mutator;
  /* planned: size of the nursery (the area for new objects) minus its size at the previous minor
     collection. over: ProfileCollection.charged minus ProfileCollection.planned, that is, the bytes
     allocated beyond the size of the nursery until the collection was due. */
  int64_t planned, over;
  uint64_t looked[LOOKED_COUNT];
} Collected;

/* Returns the version of the texts (2, 3 or 4) if 'value', n bytes, is a supported value of the
   record "asamp.format"; else 0. */
int details_format (const char *value, size_t n);

/* Reads the numbers in the line of a collection, after its letter 'g' or 'G'. 'format': version of
   the text (details_format). Missing numbers become 0. */
void details_collection (Fields *f, int format, Collected *c);

/* Reads the next line of 'events'. Returns its first letter, which is the type of the event, and
   the rest of the line in *line. Returns '\n' for an empty line, 0 after the last one. */
int details_event (Fields *events, Fields *line);

#endif
