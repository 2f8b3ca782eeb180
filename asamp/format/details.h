/* SPDX-License-Identifier: MIT */
/*
** Parser for the details of samples. In a profile written by asamp, the stacks of samples are
** binary records. The sizes, types and survival outcomes of the samples, and all events such as
** collections, are the details: texts in meta records (a key and a value) with the keys "asamp.1",
** "asamp.2", ... A details text describes one batch: the samples whose stacks were written since
** the previous text. The grammar is in doc/profile-format.md.
**
** Nothing is allocated: a Fields points into the text, which must stay in memory. A missing or too
** large number ends its list.
*/
#ifndef asamp_details_h
#define asamp_details_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

/* Number of the format of the texts with the sizes and outcomes of samples, as the value of the
   meta record "asamp.format" in a profile of one Lua state; readers also accept "2". */
#define DETAILS_FORMATTEXT	"3"
/* The format of the texts with the sizes and outcomes of samples in a profile of many Lua states,
   as a number and as the value of the meta record "asamp.format". */
#define DETAILS_STATES		4
#define DETAILS_STATESTEXT	"4"

/* The unread part of a list in a text about samples (see the head). The elements are decimal
   numbers, letters or lines. */
typedef struct Fields {
  const char *p, *end;
} Fields;

/* The lists of a details text, which describes one batch of samples (see the head). A list that the
   text does not have is empty. */
typedef struct Details {
  uint64_t samples;       /* number of samples that the text describes */
  Fields times;           /* stock format: for each sample the us since the previous one, or since
			     the start for the first sample of a file */
  Fields kinds;           /* extended format: the type of block (enum ProfileKind) of each
                             allocation sample as one letter, 'a' for type 0 */
  Fields sizes;           /* size of the block of each allocation sample, bytes */
  Fields counts;          /* three numbers for each sample that represents several sampling periods:
                             the sample's number in the text (from 1), the number of periods, the
                             number of its equal stacks in the file */
  Fields outside;         /* numbers, in the text (from 1), of the samples whose blocks were
                             allocated outside the nursery */
  Fields labels;          /* two numbers for each run of samples with one label set: length of the
			     run, number of the set */
  Fields events;          /* one line for each event (a collection, outcomes, deaths, ...), in the
                             order of writing; details_event reads them */
} Details;

/*
** Splits a text of n bytes into its lists. Returns 0 if the text does not start with a line "n
** NUMBER"; the rest of the text is not checked.
*/
int details_split (Details *d, const char *text, size_t n);

/*
** Read the next number of a list into *n; details_signed also accepts a negative one. Return 0 and
** read nothing if there is no number or it does not fit into *n.
*/
int details_number (Fields *f, uint64_t *n);
int details_signed (Fields *f, int64_t *n);

/*
** The numbers of a line that records a collection. Files of all formats give the same struct.
** ProfileCollection (sample.h) describes the values, but times are in us here. Sizes are in bytes.
*/
typedef struct Collected {
  int64_t time;              /* us from the last event that has a time to the collection's end */
  int64_t inuse, held, rss;  /* changes since the previous collection, bytes */
  uint64_t duration;
  uint64_t tenured;
  uint64_t state, minors, majors;
  uint64_t left;
  uint64_t label;            /* number of the label set in the file */
  uint64_t processor;
  uint64_t slices;
  uint64_t mutator;
  /* In bytes. 'planned': for a minor collection, the change of ProfileCollection.planned since the
     previous minor one. 'over': ProfileCollection.charged minus ProfileCollection.planned. */
  int64_t planned, over;
  uint64_t looked[LOOKED_COUNT];
} Collected;

/*
** Returns the format of the texts with the sizes and outcomes of samples, from the value (n bytes)
** of the meta record "asamp.format". Returns 0 if this reader does not support the format.
*/
int details_format (const char *value, size_t n);

/*
** Reads the fields of a line of 'events' that records a collection (letter 'g' or 'G'). 'format': a
** result of details_format above 0. Missing numbers count as 0.
*/
void details_collection (Fields *f, int format, Collected *c);

/*
** Reads the next line of 'events'. Returns its letter, or '\n' for an empty line, and sets *line to
** the rest of the line. Returns 0 at the end. doc/profile-format.md lists the letters; readers skip
** lines with other letters.
*/
int details_event (Fields *events, Fields *line);

#endif
