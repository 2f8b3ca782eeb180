/* SPDX-License-Identifier: MIT */
/*
** History of a profile's collections. Sums and pauses cover all collections; a timeline of
** bounded length has them one by one at first, later in groups of consecutive ones. Independent
** of files and Lua. Invariants:
**
**   CO1  at most COURSE_MOST spans; each except the last has 'group' collections, a power of 2;
**   CO2  a span has the sums of its collections, and their extremes; so sums and extremes of
**        all spans are those of all collections;
**   CO3  a pause is counted in a slot with a width of 1/512 of it, or of a microsecond.
*/
#ifndef asamp_course_h
#define asamp_course_h

#include "bounds.h"
#include "readprofile.h"

/* Consecutive collections. Times in us since the start, sizes in bytes. */
typedef struct Span {
  uint64_t time;         /* end of the last collection */
  uint64_t duration, processor;  /* pause and CPU time, sums, including those of collections
				    without an event */
  uint64_t slices;       /* part of 'processor': slices of major collections within minor pauses */
  uint64_t inuse, held, rss;  /* maxima after a collection */
  uint64_t least;        /* minimum in use after a collection */
  uint64_t tenured, decided, survived;  /* sums */
  uint64_t planned, charged;  /* sums */
  uint64_t minorpause, majorpause;  /* longest pauses; 0: no such collection */
  uint64_t looked[LOOKED_COUNT];  /* work counters of the longest pause (enum ProfileLooked) */
  uint64_t minors, majors;  /* numbers of collections with an event */
  uint64_t left;         /* number of collections without an event */
  int state;             /* phase after the last collection */
} Span;

/* 1,024 slots of 1 us, then 512 for each power of 2. */
#define COURSE_SLOTS	(1024 + 512 * 44)

/* The history. */
typedef struct Course {
  Span *spans;
  size_t n, size;
  uint64_t group;        /* collections per span (CO1) */
  uint64_t collections;  /* number of collections added */
  ReadCollection first, last;
  uint64_t total, longest, longestat;  /* us: sum of the pauses, including collections without
				          an event; longest pause; its end */
  uint64_t processor, majorprocessor;  /* us of CPU time of all collections, and of the major
				          ones, including their slices in minor pauses */
  uint64_t tenured, planned, charged;
  uint64_t lastmajor;    /* end of the last major collection; 0: none */
  uint64_t inuse, held, rss;  /* maxima */
  uint64_t peak;         /* end of the first collection with the most bytes in use */
  uint64_t *pauses;      /* COURSE_SLOTS counters (CO3) */
} Course;

/*
** Initializes the history. Returns 0 if there is not enough memory; course_free must be called in
** either case.
*/
int course_init (Course *c);
void course_free (Course *c);

/* Adds a collection. Returns 0 if there is not enough memory. */
int course_add (Course *c, const ReadCollection *one);

/* Returns the quantile of the pauses for 'share' from 0 to 1, in us; 0 if there are none. */
uint64_t course_quantile (const Course *c, double share);

/* Returns the number of collections if the timeline groups them, else 0. */
uint64_t course_grouped (const Course *c);

#endif
