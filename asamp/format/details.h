/* SPDX-License-Identifier: MIT */
/*
** Details: the text of a private meta "asamp.N", taken apart. Its grammar is
** in doc/profile-format.md; the encoder writes it. Owns nothing and allocates
** nothing: everything points into the text. Numbers that are missing or too
** large end the list they stand in.
*/
#ifndef asamp_details_h
#define asamp_details_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* What the writer writes; readers know format 2 as well. */
#define DETAILS_FORMATTEXT	"3"
/* ... of many states: what a state tells is its own. */
#define DETAILS_STATES		4
#define DETAILS_STATESTEXT	"4"

/* A list of decimal numbers, or of letters, not yet read. */
typedef struct Fields {
  const char *p, *end;
} Fields;

typedef struct Details {
  uint64_t samples;       /* of the batch, a repeated one once */
  Fields times;           /* us since the sample before */
  Fields kinds;           /* of allocations, one letter each, 'a' is kind 0 */
  Fields sizes;           /* of allocations, bytes */
  Fields counts;          /* triples: which sample (from 1), count, copies */
  Fields outside;         /* which samples */
  Fields labels;          /* runs: how many samples, their set of labels */
  Fields events;          /* lines, as they happened */
} Details;

/* Splits the text; 0 when it is not of this grammar. */
int details_split (Details *d, const char *text, size_t n);

/* The next number; 0 when there is none. */
int details_number (Fields *f, uint64_t *n);
int details_signed (Fields *f, int64_t *n);

/* What the line of a collection tells, whichever format it is of. */
typedef struct Collected {
  int64_t time;              /* of its end, us since the last event */
  int64_t inuse, held, rss;  /* bytes more than at the one before */
  uint64_t duration;         /* us */
  uint64_t tenured;          /* bytes */
  uint64_t state, minors, majors;
  uint64_t left;             /* us that these took */
  uint64_t label;            /* set of labels of who ran */
  uint64_t processor;        /* us of CPU time */
  uint64_t slices;           /* ... of slices of a major one, in this one and those left out */
  int64_t planned, over;     /* bytes of nurseries: of a major one; of a minor one more than
                                at the one before; and what they had above that */
  uint64_t looked[LOOKED_COUNT];
} Collected;

/* The number that the meta "asamp.format" has, of n bytes, if we read it, or 0. */
int details_format (const char *value, size_t n);

/* Reads the line of a 'g' or 'G'; numbers that are missing are 0. */
void details_collection (Fields *f, int format, Collected *c);

/*
** The next line of events: its letter, its fields in 'line'. 0 at the end.
** doc/profile-format.md lists the letters; readers pass over those that they do not know.
*/
int details_event (Fields *events, Fields *line);

#endif
