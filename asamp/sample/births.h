/* SPDX-License-Identifier: MIT */
/*
** Records the allocation site of each live sample (a sampled block that was not freed): innermost
** Lua function, line and time. Heap snapshots show these sites.
**
**   BI1  the memory is bounded: 16 bytes for each sample, and 2 * BIRTHS_TEXT bytes for the name
**        and source of each function, for up to FUNCTIONS_MOST functions.
*/
#ifndef asamp_births_h
#define asamp_births_h

#include <stddef.h>
#include <stdint.h>

#include "sample.h"

#define BIRTHS_TEXT	128u	/* Longest stored name or source, bytes. */
#define BIRTHS_TICK	20	/* log2 of the unit of Birth.time in ns: about 1 ms. */

/* Allocation site and time of a sample. */
typedef struct Birth {
  uint32_t function;	/* Number of the function (functions.h); 0: no Lua function, or unknown. */
  uint32_t line;	/* Source line at which the sample was allocated. */
  uint32_t time;	/* CLOCK_MONOTONIC in units of 2^BIRTHS_TICK ns, modulo 2^32. */
  float bytes;		/* Allocated bytes that the sample represents. */
} Birth;

/* Name, source and line of a Lua function. */
typedef struct BirthFunction {
  int line;		/* Line of the function's definition. */
  char *name, *source;	/* NUL-terminated, in one malloc block; NULL: unknown. */
} BirthFunction;

/* The functions with samples in a session (an open profile). All zero: empty. */
typedef struct BirthFunctions {
  BirthFunction *functions;	/* functions[i] has the data of the function with number i */
  size_t n, size;
} BirthFunctions;

/* Returns the allocation site of a sample: the innermost Lua function of its stack. 'frames' has
   the n innermost frames of the stack, innermost first. 'period' is the sampling period in
   bytes. */
static inline Birth births_of (const ProfileSample *s, uint64_t period,
                               const ProfileFrame *frames, size_t n) {
  Birth b = {0, 0, (uint32_t)(s->time >> BIRTHS_TICK),
             (float)(int64_t)s->count * (float)(int64_t)period};
  size_t i;
  for (i = 0; i < n; i++) {
    if (frames[i].id & 1) continue;  /* odd ids are native frames */
    b.function = (uint32_t)(frames[i].id / 8);
    b.line = frames[i].line;
    break;
  }
  return b;
}

/* Returns the age of a sample in ms at 'time' (CLOCK_MONOTONIC, ns). Wraps around after 49
   days. */
static inline uint32_t births_age (const Birth *b, uint64_t time) {
  uint64_t ticks = (uint32_t)(time >> BIRTHS_TICK) - b->time;
  return (uint32_t)((ticks << BIRTHS_TICK) / 1000000);
}

/* Stores name, line and source of the Lua function with the id 'id' (ProfileFrame.id). Ignores ids
   of native functions. If out of memory, leaves the function without a name. */
void births_function (BirthFunctions *b, uint64_t id, const char *name, int line,
                      const char *source);

/* Returns the data of the function with the number 'function', or NULL if its name is unknown. */
const BirthFunction *births_named (const BirthFunctions *b, uint32_t function);

void births_free (BirthFunctions *b);

/* Empties *b in the child of a fork. Frees no memory, because another thread may have been changing
   *b when the program forked. */
void births_forget (BirthFunctions *b);

#endif
