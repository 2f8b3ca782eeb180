/* SPDX-License-Identifier: MIT */
/*
** History of a profile's collections: sums, maxima, a histogram of pauses, and a timeline of spans.
** A span is one collection or, in long profiles, a group of consecutive ones. The file does not
** record each collection: a record has the number and the pauses of the unrecorded collections
** before it.
**
**   CO1  at most COURSE_MOST spans; each span except the last has 'group' recorded collections, a
**        power of 2;
**   CO2  sums and extremes of a span are exact, also after merging;
**   CO3  a slot of the histogram counts the pauses in a range of lengths. The width of the range is
**        1 us, or at most 1/512 of the shortest pause in the range.
*/
#ifndef asamp_course_h
#define asamp_course_h

#include "bounds.h"
#include "readprofile.h"

/* A span of the timeline: one collection or several consecutive ones. Times and pauses in us, sizes
   in bytes. */
typedef struct Span {
  uint64_t time;         /* end of the span's last collection, us since the start */
  /* 'duration': sum of the pauses. 'processor': sum of their CPU times; an unrecorded collection,
     whose CPU time is unknown, counts with its pause. */
  uint64_t duration, processor;
  /* CPU time, us, of slices of major collections that ran within minor pauses. It is a part of
     'processor'. */
  uint64_t slices;
  uint64_t mutator;      /* CPU time of the program between collections, us */
  /* Three sizes in bytes are measured at the end of each collection: 'inuse', bytes in use; 'held',
     bytes reserved; 'rss', resident bytes. Each field has the largest value in the span. */
  uint64_t inuse, held, rss;
  /* Smallest number of bytes in use at the end of a collection of the span. */
  uint64_t least;
  /* Sums of the fields of ReadCollection with the same names. 'tenured': bytes; 'decided',
     'survived': sampling periods that samples represent. */
  uint64_t tenured, decided, survived;
  /* Sums of the planned sizes of nurseries, and of the bytes allocated in them. */
  uint64_t planned, charged;
  /* Longest pause of a minor collection and of a major collection, us; 0: there was no such
     collection. */
  uint64_t minorpause, majorpause;
  /* numbers of stack slots, table entries etc. (enum ProfileLooked) that were visited in the
     collection with the longest pause of the span */
  uint64_t looked[LOOKED_COUNT];
  uint64_t minors, majors;  /* numbers of the span's recorded minor and major collections */
  uint64_t left;         /* number of the span's unrecorded collections */
  int state;             /* phase of the running major collection when the span ended: 1 marking, 2
                            sweeping, 3 finalizing; 0: no major collection was running */
} Span;

/* Slots of the histogram of pauses, each for a range of lengths: 1,024 slots of 1 us each, then 512
   slots for each power of 2. */
#define COURSE_SLOTS	(1024 + 512 * 44)

typedef struct Course {
  Span *spans;           /* the timeline: all spans, oldest first */
  size_t n, size;        /* number of spans, capacity */
  /* number of consecutive recorded collections that an element of 'spans' combines; the last
     element may have fewer */
  uint64_t group;
  uint64_t collections;  /* number of recorded collections, minor and major */
  ReadCollection first, last;
  /* 'total': sum of all pauses. 'longest': longest recorded pause. 'longestat': time at which the
     collection with this pause ended. All in us. */
  uint64_t total, longest, longestat;
  /* CPU time in us.
     processor       CPU time of all collections. The CPU time of an unrecorded collection is
                     unknown, so its pause is added instead
     majorprocessor  CPU time of major collections, with their slices within minor pauses */
  uint64_t processor, majorprocessor;
  /* Sums of the fields of ReadCollection with the same names, bytes. */
  uint64_t tenured, planned, charged;
  uint64_t lastmajor;    /* end of the last recorded major collection, us since the start; 0:
                            none */
  /* Three sizes in bytes are measured at the end of each collection: 'inuse', bytes in use; 'held',
     bytes reserved; 'rss', resident bytes. Each field has the largest value of all collections. */
  uint64_t inuse, held, rss;
  /* Time of the collection that has set 'inuse', the largest number of bytes in use; us since the
     start. */
  uint64_t peak;
  uint64_t *pauses;      /* histogram: number of recorded pauses in each slot (a range of
                            lengths) */
} Course;

/* Initializes the history of a profile's collections. Returns 0 if out of memory; call course_free
   in either case. */
int course_init (Course *c);
void course_free (Course *c);

/* Adds a collection, in the order of time. Returns 0 if out of memory. */
int course_add (Course *c, const ReadCollection *one);

/* Returns a quantile of the recorded pauses in us, at most 1/512 too high. 'share' 0.5 is the
   median. Returns 0 if there are no pauses. */
uint64_t course_quantile (const Course *c, double share);

/* Returns the number of recorded collections if the timeline shows several of them as one span,
   else 0. */
uint64_t course_grouped (const Course *c);

#endif
