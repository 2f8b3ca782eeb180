/* SPDX-License-Identifier: MIT */
/*
** The marks of a profile. A mark is a name and a value that the program recorded at a certain time.
** Computes totals by name, and keeps some marks for a timeline.
**
**   MK1  at most MARKS_NAMES names; the last name represents all further names. At most MARKS_MOST
**        marks are kept. Values are cut to 3 * READER_MAXNAME bytes: the writer stores at most
**        4,095 bytes, each of which may become U+FFFD (3 bytes);
**   MK2  the kept marks are the first mark and every 'step'-th mark after it.
*/
#ifndef asamp_marks_h
#define asamp_marks_h

#include "bounds.h"
#include "readprofile.h"

/* Totals of the marks with one name. */
typedef struct MarkName {
  uint32_t name;         /* offset in Marks.text */
  uint64_t count;        /* number of marks with this name */
  uint64_t first, last;  /* times of the first and last mark, us since the start */
  uint64_t numbers;      /* number of marks with a numeric value */
  uint64_t integers;     /* number of marks with an integer value */
  double sum, least, most;  /* sum, minimum and maximum of the numeric values */
  char *value;           /* value of the last mark, NUL-terminated */
} MarkName;

/* A mark kept for the timeline. */
typedef struct Mark {
  uint64_t time;         /* us since the start */
  uint32_t name;         /* index in Marks.names */
  char *value;           /* value of the mark, NUL-terminated */
} Mark;

typedef struct Marks {
  StrTab text;           /* names of marks, each once */
  IdMap byname;          /* maps the offset of a name (+ 1) to its index in 'names' */
  MarkName *names;
  size_t nnames, namesize;  /* number of names, capacity */
  Mark *marks;           /* the kept marks, in the order of the file */
  size_t n, size;        /* number of kept marks, capacity */
  /* step: distance of two kept marks, in marks (1: all are kept). count: number of all marks. */
  uint64_t step, count;
  /* Number of marks that count under the last name, "(other marks)", because there are MARKS_NAMES
     names. */
  uint64_t lumped;
} Marks;

/* Initializes *m without marks. Returns 0 if out of memory; call marks_free in either case. */
int marks_init (Marks *m);

void marks_free (Marks *m);

/* Adds a mark; copies its name and value. Returns 0 if out of memory. */
int marks_add (Marks *m, const ReadMark *mark);

#endif
