/* SPDX-License-Identifier: MIT */
/*
** History of a profile's collections: sums and maxima over all of them, a histogram of their
** pauses, and a timeline of bounded length. The elements of the timeline are spans: single
** collections at first, groups of consecutive ones when the timeline is full. The file does not
** record each collection: the record of the next one has the number of unrecorded ones and the sum
** of their pauses. Independent of files and Lua. Invariants:
**
**   CO1  at most COURSE_MOST spans; each except the last has 'group' collections, a power of 2;
**   CO2  the sums, maxima and minima of a span are exact for its collections, also after spans were
**        merged;
**   CO3  the slot of the histogram in which a pause is counted is 1 us wide, or its width is at
**        most 1/512 of the pause.
*/
#ifndef asamp_course_h
#define asamp_course_h

#include "bounds.h"
#include "readprofile.h"

/* Consecutive collections. Times and pauses in us, sizes in bytes. */
typedef struct Span {
  uint64_t time;         /* end of the last collection, us since the start */
  /* 'duration': sum of the pauses. 'processor': sum of their CPU times. The file has no CPU time
     for an unrecorded collection (see the head); its whole pause is added to both. */
  uint64_t duration, processor;
  uint64_t slices;       /* sum of ReadCollection.slices: CPU time of slices of major collections
                            within minor pauses; included in 'processor' */
  uint64_t mutator;      /* sum of ReadCollection.mutator: CPU time of the program between
                            collections */
  /* Largest numbers of bytes in use, reserved and resident after a collection. */
  uint64_t inuse, held, rss;
  uint64_t least;        /* smallest number of bytes in use after a collection */
  /* Sums of the fields of ReadCollection with these names, over the collections of the span. */
  uint64_t tenured, decided, survived;
  uint64_t planned, charged;
  /* Longest pause of a minor and of a major collection; 0 if the span has no such collection. */
  uint64_t minorpause, majorpause;
  uint64_t looked[LOOKED_COUNT];  /* work counters of the longest pause (enum ProfileLooked) */
  uint64_t minors, majors;  /* numbers of collections that the file records one by one */
  uint64_t left;         /* number of collections that the file only counts in the next record */
  int state;             /* phase after the last collection, as in ReadCollection */
} Span;

/* Slots of the histogram of pauses, each a range of lengths: 1,024 slots of 1 us, then 512 slots
   for each power of 2. */
#define COURSE_SLOTS	(1024 + 512 * 44)

/* The history of a profile's collections. */
typedef struct Course {
  Span *spans;           /* the timeline: consecutive collections, one or more per element */
  size_t n, size;        /* number of spans, capacity */
  uint64_t group;        /* number of consecutive collections in each element of 'spans' except
			    the last (CO1) */
  uint64_t collections;  /* number of collections that the file records one by one */
  ReadCollection first, last;
  /* 'total': sum of all pauses, us. 'longest': longest pause of a collection that the file records,
     us. 'longestat': the end of that pause. */
  uint64_t total, longest, longestat;
  /* us of CPU time. 'processor': of all collections; an unrecorded collection (see the head) counts
     with its pause. 'majorprocessor': of the recorded major collections, and of all slices of major
     collections in minor pauses. */
  uint64_t processor, majorprocessor;
  /* Sums of the fields of ReadCollection with these names, over all collections. */
  uint64_t tenured, planned, charged;
  uint64_t lastmajor;    /* end of the last major collection that the file records, us since the
                            start; 0: none */
  /* Largest numbers of bytes in use, reserved and resident after a collection. */
  uint64_t inuse, held, rss;
  uint64_t peak;         /* end of the first collection after which the most bytes were in use, us
                            since the start */
  uint64_t *pauses;      /* number of pauses in each of the COURSE_SLOTS slots of the histogram
                            (CO3) */
} Course;

/*
** Initializes the history. Returns 0 if there is not enough memory; course_free must be called in
** either case.
*/
int course_init (Course *c);
void course_free (Course *c);

/* Adds a garbage collection to the history, in the order of time. Returns 0 if there is not enough
   memory. */
int course_add (Course *c, const ReadCollection *one);

/*
** Returns the quantile 'share' (0 to 1) of the pauses of the collections that the file records, in
** us; 0 if there are none. The result is at most 1/512 above the exact quantile (CO3).
*/
uint64_t course_quantile (const Course *c, double share);

/* Returns the number of collections that the file records if an element of the timeline may combine
   several of them, else 0. */
uint64_t course_grouped (const Course *c);

#endif
