/* SPDX-License-Identifier: MIT */
/*
** History of a profile's collections: sums and maxima over all of them, a histogram of their
** pauses, and a timeline of bounded length. The elements of the timeline are spans: single
** collections at first, groups of consecutive ones when the timeline is full. Some collections have
** no event of their own in the file; their pauses are added to the sums with the next event.
** Independent of files and Lua. Invariants:
**
**   CO1  at most COURSE_MOST spans; each except the last has 'group' collections, a power of 2;
**   CO2  a span has the sums of its collections, and their extremes; so sums and extremes of
**        all spans are those of all collections;
**   CO3  the slot in which a pause is counted is 1 us wide, or at most 1/512 of the pause.
*/
#ifndef asamp_course_h
#define asamp_course_h

#include "bounds.h"
#include "readprofile.h"

/* Consecutive collections. Times and pauses in us, sizes in bytes. */
typedef struct Span {
  uint64_t time;         /* end of the last collection, us since the start */
  uint64_t duration, processor;  /* sums of the pauses and of their CPU time, including pauses
				    of collections without an event */
  uint64_t slices;       /* the part of 'processor' that slices of major collections took within
			    minor pauses */
  uint64_t inuse, held, rss;  /* maxima of the bytes after a collection */
  uint64_t least;        /* minimum of 'inuse' after a collection */
  uint64_t tenured, decided, survived;  /* sums, as in ReadCollection */
  uint64_t planned, charged;  /* sums, as in ReadCollection */
  uint64_t minorpause, majorpause;  /* longest pause of a minor collection, and of a major one; 0:
				       the span has no such collection */
  uint64_t looked[LOOKED_COUNT];  /* work counters of the longest pause (enum ProfileLooked) */
  uint64_t minors, majors;  /* numbers of collections with an event */
  uint64_t left;         /* number of collections without an event */
  int state;             /* phase after the last collection, as in ReadCollection */
} Span;

/* Slots of pauses: 1,024 of 1 us, then 512 for each power of 2. */
#define COURSE_SLOTS	(1024 + 512 * 44)

/* The history. */
typedef struct Course {
  Span *spans;           /* the timeline */
  size_t n, size;        /* number of spans, capacity */
  uint64_t group;        /* collections per span (CO1) */
  uint64_t collections;  /* number of collections with an event */
  ReadCollection first, last;
  /* 'total': sum of all pauses, us. 'longest': longest pause of a collection with an event, us.
     'longestat': the end of that pause. */
  uint64_t total, longest, longestat;
  /* us of CPU time. 'processor': of all collections; for those without an event, the pause counts
     as CPU time. 'majorprocessor': of the major collections with an event, and of all slices in
     minor pauses. */
  uint64_t processor, majorprocessor;
  uint64_t tenured, planned, charged;  /* sums, as in ReadCollection */
  uint64_t lastmajor;    /* end of the last major collection with an event; 0: none */
  uint64_t inuse, held, rss;  /* maxima of the bytes after a collection */
  uint64_t peak;         /* end of the first collection with the most bytes in use */
  uint64_t *pauses;      /* COURSE_SLOTS counters (CO3) */
} Course;

/*
** Initializes the history. Returns 0 if there is not enough memory; course_free must be called in
** either case.
*/
int course_init (Course *c);
void course_free (Course *c);

/* Adds a collection, in the order of time. Returns 0 if there is not enough memory. */
int course_add (Course *c, const ReadCollection *one);

/*
** Returns the quantile 'share' (0 to 1) of the pauses of collections with an event, in us; 0 if
** there are none. The result is too long by at most 1/512 (CO3).
*/
uint64_t course_quantile (const Course *c, double share);

/* Returns 'collections' if a span has more than one collection, else 0. */
uint64_t course_grouped (const Course *c);

#endif
