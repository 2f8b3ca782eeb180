/* SPDX-License-Identifier: MIT */
/*
** The marks of a profile: totals by name over all marks, and an even selection of single marks
** for a timeline. Independent of files and Lua. Invariants:
**
**   MK1  at most MARKS_NAMES names, the last of which represents all others, and MARKS_MOST
**        marks;
**   MK2  the kept marks are the first and every 'step'-th after it.
*/
#ifndef asamp_marks_h
#define asamp_marks_h

#include "bounds.h"
#include "readprofile.h"

/* The marks of one name. */
typedef struct MarkName {
  uint32_t name;         /* offset in 'text' */
  uint64_t count;
  uint64_t first, last;  /* us since the start */
  uint64_t numbers;      /* marks with a numeric value, to which the following apply */
  uint64_t integers;     /* marks whose value has no point and no exponent */
  double sum, least, most;
  char *value;           /* value of the last mark, NUL-terminated */
} MarkName;

typedef struct Mark {
  uint64_t time;
  uint32_t name;         /* index of a MarkName */
  char *value;
} Mark;

typedef struct Marks {
  StrTab text;           /* the names */
  IdMap byname;          /* maps the number of a name (+ 1) to its index */
  MarkName *names;
  size_t nnames, namesize;
  Mark *marks;
  size_t n, size;
  uint64_t step, count;  /* interval of kept marks (MK2); number of marks */
  uint64_t lumped;       /* marks of names beyond the limit */
} Marks;

/*
** Initializes the marks. Returns 0 if there is not enough memory; marks_free must be called in
** either case.
*/
int marks_init (Marks *m);
void marks_free (Marks *m);

/* Adds a mark. Returns 0 if there is not enough memory. */
int marks_add (Marks *m, const ReadMark *mark);

#endif
