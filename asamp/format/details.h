/* SPDX-License-Identifier: MIT */
/*
** Parser for details: the text of a private meta "asamp.N", which the encoder writes (grammar:
** doc/profile-format.md). The functions allocate nothing: all results point into the text. A
** number that is missing or too large ends its list.
*/
#ifndef asamp_details_h
#define asamp_details_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* the value of the meta "asamp.format" that asamp writes; readers also accept format 2 */
#define DETAILS_FORMATTEXT	"3"
/* The format of a profile of several states: the details of each state are separate. */
#define DETAILS_STATES		4
#define DETAILS_STATESTEXT	"4"

/* The unread part of a list of decimal numbers or letters. */
typedef struct Fields {
  const char *p, *end;
} Fields;

typedef struct Details {
  uint64_t samples;       /* number of samples in the batch; repeated ones count once */
  Fields times;           /* us from the previous sample to each sample */
  Fields kinds;           /* kinds of the allocations, one letter each; 'a' is kind 0 */
  Fields sizes;           /* bytes of each allocation */
  Fields counts;          /* triples for repeated samples: the sample's number (from 1), its
			     count, its copies */
  Fields outside;         /* numbers of the samples that were allocated outside the nursery */
  Fields labels;          /* runs of samples with the same labels: number of samples, set of
			     labels */
  Fields events;          /* one line for each event, in the order of time */
} Details;

/* Splits a text of n bytes into its lists. Returns 0 if it does not match the grammar. */
int details_split (Details *d, const char *text, size_t n);

/*
** Read the next number of a list into *n (details_signed: it may be negative). Return 0 if
** there is none.
*/
int details_number (Fields *f, uint64_t *n);
int details_signed (Fields *f, int64_t *n);

/* The contents of the line of a collection, independent of the format. */
typedef struct Collected {
  int64_t time;              /* the collection's end, us after the last event */
  int64_t inuse, held, rss;  /* changes since the previous collection, bytes */
  uint64_t duration;         /* us */
  uint64_t tenured;          /* bytes */
  uint64_t state, minors, majors;
  uint64_t left;             /* us of the pauses of the collections left out before this one */
  uint64_t label;            /* set of labels of the thread that ran */
  uint64_t processor;        /* us of processor time */
  uint64_t slices;           /* us of processor time for slices of a major collection, in this
			        collection and those left out */
  int64_t planned, over;     /* bytes of the nurseries: 'planned' of a major collection; of a
			        minor one its difference to that of the previous one. 'over':
			        bytes allocated in excess of them */
  uint64_t looked[LOOKED_COUNT];
} Collected;

/*
** Returns the number in the meta "asamp.format" (n bytes), or 0 if this reader does not support
** it.
*/
int details_format (const char *value, size_t n);

/* Reads the fields of an event 'g' or 'G'. Missing numbers are 0. */
void details_collection (Fields *f, int format, Collected *c);

/*
** Reads the next line of events: returns its letter and sets *line to its fields. Returns 0 at
** the end. doc/profile-format.md lists the letters; readers ignore unknown ones.
*/
int details_event (Fields *events, Fields *line);

#endif
