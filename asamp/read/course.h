/* SPDX-License-Identifier: MIT */
/*
** The course of a profile: its collections, added up. Sums and pauses are of all
** of them, however many there are; a timeline of bounded length has them one by
** one at first, later in groups of neighbours. Knows neither files nor Lua.
** Invariants:
**   CO1  at most COURSE_MOST spans; each but the last is of 'group' collections, a
**        power of 2;
**   CO2  a span has the sums of its collections, and in 'most' and 'least' their
**        extremes; so sums and extremes of all spans are those of all collections;
**   CO3  a pause is counted in a slot that is as wide as 1 part in 512 of it, or a
**        microsecond.
*/
#ifndef asamp_course_h
#define asamp_course_h

#include "bounds.h"
#include "readprofile.h"

/* Collections that follow each other. Times in us since the start, sizes in bytes. */
typedef struct Span {
  uint64_t time;         /* end of the last one */
  uint64_t duration, processor;  /* of all together, and of those without an event */
  uint64_t slices;       /* of the latter, of slices of major ones in the pauses of minor ones */
  uint64_t inuse, held, rss;  /* the most behind one of them */
  uint64_t least;        /* in use behind one of them */
  uint64_t tenured, decided, survived;  /* of all together */
  uint64_t planned, charged;  /* likewise */
  uint64_t minorpause, majorpause;  /* the longest; of none 0 */
  uint64_t looked[LOOKED_COUNT];  /* in the longest pause (enum ProfileLooked) */
  uint64_t minors, majors;  /* of these */
  uint64_t left;         /* those without an event */
  int state;             /* of the last one */
} Span;

/* 1,024 slots of 1 us, then 512 for each power of 2. */
#define COURSE_SLOTS	(1024 + 512 * 44)

typedef struct Course {
  Span *spans;
  size_t n, size;
  uint64_t group;        /* CO1 */
  uint64_t collections;  /* that were added */
  ReadCollection first, last;
  uint64_t total, longest, longestat;  /* us, with those without an event; when the longest one ended */
  uint64_t processor, majorprocessor;  /* us of CPU time, likewise; of this, of major ones, slices
                                          of which are in pauses of minor ones */
  uint64_t tenured, planned, charged;
  uint64_t lastmajor;    /* end of the last major one; 0: there was none */
  uint64_t inuse, held, rss;  /* the most */
  uint64_t peak;         /* end of the first collection with the most in use */
  uint64_t *pauses;      /* COURSE_SLOTS counts (CO3) */
} Course;

/* 0 without memory; free it all the same. */
int course_init (Course *c);
void course_free (Course *c);

/* 0 without memory. */
int course_add (Course *c, const ReadCollection *one);

/* The pause that this share, 0 to 1, of them do not exceed, us; 0 of none. */
uint64_t course_quantile (const Course *c, double share);

/* Collections that are on the timeline with others. */
uint64_t course_grouped (const Course *c);

#endif
