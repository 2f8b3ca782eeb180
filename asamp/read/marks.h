/* SPDX-License-Identifier: MIT */
/*
** The marks of a profile: sums by name, of all of them, and some of them one by
** one, evenly among all, for a timeline. Knows neither files nor Lua.
** Invariants:
**   MK1  at most MARKS_NAMES names, the last of which stands for all that find no
**        room, and MARKS_MOST marks;
**   MK2  the marks that are kept are the first, and each 'step'-th behind it.
*/
#ifndef asamp_marks_h
#define asamp_marks_h

#include "bounds.h"
#include "readprofile.h"

/* The marks of one name. */
typedef struct MarkName {
  uint32_t name;         /* in 'text' */
  uint64_t count;
  uint64_t first, last;  /* us since the start */
  uint64_t numbers;      /* marks whose value is one; of these: */
  uint64_t integers;     /* those without point and exponent */
  double sum, least, most;
  char *value;           /* the last one's, NUL behind it */
} MarkName;

typedef struct Mark {
  uint64_t time;
  uint32_t name;         /* index of a MarkName */
  char *value;
} Mark;

typedef struct Marks {
  StrTab text;           /* of names */
  IdMap byname;          /* number of a name (+ 1) -> index */
  MarkName *names;
  size_t nnames, namesize;
  Mark *marks;
  size_t n, size;
  uint64_t step, count;  /* MK2; marks there were */
  uint64_t lumped;       /* marks of other names */
} Marks;

/* 0 without memory; free it all the same. */
int marks_init (Marks *m);
void marks_free (Marks *m);

/* 0 without memory. */
int marks_add (Marks *m, const ReadMark *mark);

#endif
