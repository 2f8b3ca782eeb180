/* SPDX-License-Identifier: MIT */
/*
** Parser for the details of samples. In asamp's profiles, stacks are binary records; sizes, types
** and outcomes of samples, and all events, are texts in meta records "asamp.1", "asamp.2", ... A
** text describes one batch: the samples whose stacks precede it. Nothing is allocated: a Fields
** points into the text. doc/profile-format.md has the grammar.
*/
#ifndef asamp_details_h
#define asamp_details_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Value of "asamp.format" in a profile of one Lua state: the format of its details. Readers also
   accept "2". */
#define DETAILS_FORMATTEXT	"3"
/* Format of the details in a profile of many Lua states, as a number and as a text. */
#define DETAILS_STATES		4
#define DETAILS_STATESTEXT	"4"

/* The unread part of a list of numbers, letters or lines. */
typedef struct Fields {
  const char *p, *end;
} Fields;

/* The lists of numbers about the samples of a batch, found in its text. A list that the text does
   not have is empty. */
typedef struct Details {
  uint64_t samples;       /* number of samples */
  Fields times;           /* only in stock files (doc/profile-format.md): us from the previous
                             sample to each sample */
  Fields kinds;           /* only in extended files: type of each allocation sample, 'a' for type
                             0 */
  Fields sizes;           /* bytes of each allocation sample's block */
  Fields counts;          /* for each sample that represents several sampling periods: its number
                             in the batch (1: first), number of periods, number of equal stacks */
  Fields outside;         /* samples outside the nursery, each as its number in the batch (1:
                             first) */
  Fields labels;          /* label sets: for each run of successive samples with the same set,
                             the number of samples and the number of the set */
  Fields events;          /* the lines about events, to be read by details_event */
} Details;

/* Splits a text of n bytes into its lists. Returns 0 if it does not start with "n NUMBER". */
int details_split (Details *d, const char *text, size_t n);

/* Reads the next number of a list. Returns 0 and reads nothing at the end of the list, or if the
   number does not fit in *n. */
int details_number (Fields *f, uint64_t *n);
/* Like details_number, also for negative numbers. */
int details_signed (Fields *f, int64_t *n);

/* The numbers of a collection's line, as in ProfileCollection; times in us, sizes in bytes. */
typedef struct Collected {
  int64_t time;              /* end of the collection: us since the last event that has a time */
  int64_t inuse, held, rss;  /* bytes in use, bytes reserved for the heap, resident bytes of the
                                process; each minus that of the previous collection */
  uint64_t duration;
  uint64_t tenured;
  uint64_t state, minors, majors;
  uint64_t left;
  uint64_t label;            /* number of the label set in the file */
  uint64_t processor;
  uint64_t slices;
  uint64_t mutator;
  /* 'planned': ProfileCollection.planned minus that of the previous minor collection. 'over':
     ProfileCollection.charged minus ProfileCollection.planned. */
  int64_t planned, over;
  uint64_t looked[LOOKED_COUNT];
} Collected;

/* Returns the number of the format that the value of "asamp.format" means; 0: not supported. */
int details_format (const char *value, size_t n);

/* Reads a line of a collection ('g' or 'G') in that format. Missing numbers are 0. */
void details_collection (Fields *f, int format, Collected *c);

/* Reads the next line of 'events'. Returns its letter ('\n': empty), and the rest in *line; 0
   at the end. */
int details_event (Fields *events, Fields *line);

#endif
