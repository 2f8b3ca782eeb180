/* SPDX-License-Identifier: MIT */
/*
** Records the allocation sites of live samples, for snapshots of the heap. A sample's site is the
** innermost Lua function, its line and the time. The name and source of each function are stored
** once. Works without a profile. Uses malloc.
**
**   BI1  the memory is bounded: 16 bytes per sample, and at most BIRTHS_TEXT bytes of the name and
**        BIRTHS_TEXT bytes of the source per function, for up to FUNCTIONS_MOST functions
**        (functions.h).
*/
#ifndef asamp_births_h
#define asamp_births_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define BIRTHS_TEXT	128u	/* Longest stored name and longest stored source, bytes. */
#define BIRTHS_TICK	20	/* log2 of the unit of Birth.time in ns; the unit is about a
				   millisecond. A power of 2, so that a time is converted by one
				   shift. */

/* Allocation site and time of a sample. */
typedef struct Birth {
  uint32_t function;	/* Number of the function (functions.h); 0: no Lua function, or unknown. */
  uint32_t line;	/* Line in that function at which the sample was taken. */
  uint32_t time;	/* CLOCK_MONOTONIC in units of 2^BIRTHS_TICK ns, modulo 2^32. */
  float bytes;		/* Allocated bytes that the sample represents. */
} Birth;

/* Name, source and line of a Lua function that has allocation sites (Birth). */
typedef struct BirthFunction {
  int line;		/* Line of the function's definition. */
  char *name, *source;	/* NUL-terminated, both in one malloc block; NULL: never reported, or not
			   enough memory. */
} BirthFunction;

/* The names of the Lua functions that samples of a session refer to. All zero: empty. */
typedef struct BirthFunctions {
  BirthFunction *functions;	/* Indexed by the number of the function. */
  size_t n, size;
} BirthFunctions;

/* Returns the site of a sample. 'frames' has the n innermost frames of its stack that are not
   shared with the previous stack, innermost first. 'period' is the sampling period in bytes. Does
   not allocate. */
static inline Birth births_of (const ProfileSample *s, uint64_t period,
                               const ProfileFrame *frames, size_t n) {
  Birth b = {0, 0, (uint32_t)(s->time >> BIRTHS_TICK),
             (float)(int64_t)s->count * (float)(int64_t)period};
  size_t i;
  for (i = 0; i < n; i++) {
    if (frames[i].id & 1) continue;  /* odd: a native frame, or a frame that represents no code */
    b.function = (uint32_t)(frames[i].id / 8);
    b.line = frames[i].line;
    break;
  }
  return b;
}

/* Returns the age of a sample in ms at 'time' (CLOCK_MONOTONIC, ns). The result wraps around after
   49 days. */
static inline uint32_t births_age (const Birth *b, uint64_t time) {
  uint64_t ticks = (uint32_t)(time >> BIRTHS_TICK) - b->time;
  return (uint32_t)((ticks << BIRTHS_TICK) / 1000000);
}

/* Stores the name and source of a Lua function. The arguments are those of StackEmit (stack.h). If
   there is not enough memory, the name is missing. */
void births_function (BirthFunctions *b, uint64_t id, const char *name, int line,
                      const char *source);

/* Returns the function with that number; NULL if there is none or its name is missing. */
const BirthFunction *births_named (const BirthFunctions *b, uint32_t function);

void births_free (BirthFunctions *b);

/* Empties the list without freeing its memory. Used in the child of a fork, because another thread
   may have been changing the list at the fork. */
void births_forget (BirthFunctions *b);

#endif
