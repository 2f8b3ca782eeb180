/* SPDX-License-Identifier: MIT */
/*
** Where and when samples that are alive were allocated, for snapshots of the heap: of
** each the innermost function written in Lua, its line and the time; of each function
** what it is called. Knows no profile. Memory from malloc:
**   BI1  16 bytes a sample; a function has at most BIRTHS_TEXT bytes of its name and as
**        many of its source, and there are FUNCTIONS_MOST (functions.h).
*/
#ifndef asamp_births_h
#define asamp_births_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define BIRTHS_TEXT	128u
#define BIRTHS_TICK	20	/* about a millisecond, for one shift */

typedef struct Birth {
  uint32_t function;	/* its number (functions.h); 0: no Lua function, or not known */
  uint32_t line;
  uint32_t time;	/* CLOCK_MONOTONIC, 2^BIRTHS_TICK ns, as much as there is room for */
  float bytes;		/* that the sample stands for */
} Birth;

typedef struct BirthFunction {
  int line;		/* of its definition */
  char *name, *source;	/* one block; NULL: not told, or no memory */
} BirthFunction;

/* All zero: empty. */
typedef struct BirthFunctions {
  BirthFunction *functions;	/* by number */
  size_t n, size;
} BirthFunctions;

/* Of a sample whose new frames these are, innermost first. */
static inline Birth births_of (const ProfileSample *s, uint64_t period,
                               const ProfileFrame *frames, size_t n) {
  Birth b = {0, 0, (uint32_t)(s->time >> BIRTHS_TICK),
             (float)(int64_t)s->count * (float)(int64_t)period};
  size_t i;
  for (i = 0; i < n; i++) {
    if (frames[i].id & 1) continue;  /* native, or nobody's */
    b.function = (uint32_t)(frames[i].id / 8);
    b.line = frames[i].line;
    break;
  }
  return b;
}

/* How long it has been there at that time, ms. */
static inline uint32_t births_age (const Birth *b, uint64_t time) {
  uint64_t ticks = (uint32_t)(time >> BIRTHS_TICK) - b->time;
  return (uint32_t)((ticks << BIRTHS_TICK) / 1000000);
}

/* A function was emitted (stack.h). */
void births_function (BirthFunctions *b, uint64_t id, const char *name, int line,
                      const char *source);

/* The function of that number, or NULL. */
const BirthFunction *births_named (const BirthFunctions *b, uint32_t function);

void births_free (BirthFunctions *b);

/* There are none, and what they had stays allocated (a fork may have caught it). */
void births_forget (BirthFunctions *b);

#endif
