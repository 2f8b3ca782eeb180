/* SPDX-License-Identifier: MIT */
/*
** The marks of a profile. A mark is a name and a value that the program has recorded at a certain
** time. This module computes totals by name over all marks, and selects single marks (kept marks)
** evenly for a timeline. Independent of files and Lua. Invariants:
**
**   MK1  there are at most MARKS_NAMES names, the last of which represents all others, and at most
**        MARKS_MOST kept marks;
**   MK2  the kept marks are the first mark and every 'step'-th one after it.
*/
#ifndef asamp_marks_h
#define asamp_marks_h

#include "bounds.h"
#include "readprofile.h"

/* Totals over the marks with one name. A mark is a name and a value that the program has
   recorded. */
typedef struct MarkName {
  uint32_t name;         /* offset in Marks.text */
  uint64_t count;        /* number of marks with this name */
  uint64_t first, last;  /* times of the first and the last mark, us since the start */
  uint64_t numbers;      /* number of marks with a numeric value */
  uint64_t integers;     /* number of marks with a numeric value without point and exponent */
  double sum, least, most;  /* sum, minimum and maximum of the numeric values */
  char *value;           /* value of the last mark, NUL-terminated */
} MarkName;

/* A mark, which is a name and a value that the program has recorded, that is kept for the
   timeline. */
typedef struct Mark {
  uint64_t time;         /* time of the mark, us since the start */
  uint32_t name;         /* index in Marks.names */
  char *value;           /* value of the mark, NUL-terminated */
} Mark;

typedef struct Marks {
  StrTab text;           /* the names */
  IdMap byname;          /* maps the offset of a name (+ 1) to its index in 'names' */
  MarkName *names;
  size_t nnames, namesize;  /* number of names, capacity of 'names' */
  Mark *marks;           /* the marks kept for the timeline, in the order of the file */
  size_t n, size;        /* number of marks in 'marks', its capacity */
  /* 'step': every step-th mark of the program is kept in 'marks', from the first one on (MK2).
     'count': number of all marks that the program has recorded. */
  uint64_t step, count;
  /* Number of marks of the program that are counted under the last name instead of their own,
     because MARKS_NAMES names exist already (MK1). */
  uint64_t lumped;
} Marks;

/*
** Initializes an empty set of marks. Returns 0 if there is not enough memory; marks_free must be
** called in either case.
*/
int marks_init (Marks *m);
/* Frees everything. */
void marks_free (Marks *m);

/* Adds a mark that the program has recorded; copies its name and value. Returns 0 if there is not
   enough memory. */
int marks_add (Marks *m, const ReadMark *mark);

#endif
