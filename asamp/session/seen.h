/* SPDX-License-Identifier: MIT */
/*
** Numbers about a Lua state that other OS threads may read while it runs. The state's thread
** copies them here at samples, safepoints and collections; others never read the lua_State. Totals
** are kept by the state's name, because there may be thousands of states.
**
**   SE1  the numbers are written by the state's own thread and read by any (atomic);
**   SE2  each has its value at the last sample, safepoint or collection. In one profile none
**        decreases, except SEEN_INUSE, SEEN_HELD and SEEN_TENURED;
**   SE3  names are looked up and sums changed with the lock of all samplers held. The number of a
**        name is permanent; the last is for all names beyond the limit.
*/
#ifndef asamp_seen_h
#define asamp_seen_h

#include <stdint.h>

#include "bounds.h"
#include "sample.h"

typedef enum SeenNumber {
  /* samples, and bytes, since the state joined its profile */
  SEEN_SAMPLES, SEEN_TIMESAMPLES, SEEN_NATIVES, SEEN_BYTES,
  SEEN_INUSE, SEEN_HELD, SEEN_TENURED,  /* bytes of the heap at the last update */
  SEEN_MINORS, SEEN_MAJORS, SEEN_PAUSES, SEEN_LONGEST,  /* of the heap since its start; pauses
                                                           in ns */
  /* counts of dropped data (ProfileLeft) */
  SEEN_CHUNKS, SEEN_FUNCTIONS, SEEN_CLASSES, SEEN_PATHS, SEEN_STEPS,
  SEENS
} SeenNumber;

/* The published numbers of a state. */
typedef struct Seen {
  uint64_t numbers[SEENS];
  const void *thread;	/* An address that identifies the thread that wrote them. */
} Seen;

static inline void seen_put (Seen *s, SeenNumber which, uint64_t n) {
  __atomic_store_n(&s->numbers[which], n, __ATOMIC_RELAXED);
}

static inline uint64_t seen_get (const Seen *s, SeenNumber which) {
  return __atomic_load_n(&s->numbers[which], __ATOMIC_RELAXED);
}

/* Copies the counts of dropped data to *left. */
void seen_left (const Seen *s, ProfileLeft *left);

enum { SEEN_UNNAMED = 0 };	/* the name "", before the first allocation sample */

/* Sums over the states with one name. */
typedef struct SeenNamed {
  const char *name;	/* valid for the life of the process */
  uint64_t open, made;	/* number of open states, and of all states with the name */
  uint64_t samples, bytes, minors, majors, pauses;  /* sums over all states with the name;
                                                       pauses in ns */
  uint64_t inuse, held;	/* sums over the open states, bytes */
} SeenNamed;

/* Returns the number of a script's name (SE3), and counts a state with it. 'source' is from
   lua_Debug. */
unsigned seen_name (const char *source);
/* Returns the name with that number; permanent. */
const char *seen_text (unsigned name);
/* Adds a state's numbers to the sums of its name: samples and bytes if 'profile' is 1 (it
   leaves its profile), collections and pauses if 'heap' is 1 (it was closed). */
void seen_past (unsigned name, const Seen *s, int profile, int heap);
/* Stores the sums over past states by number of name. Returns SEEN_NAMES. */
unsigned seen_named (SeenNamed *to);
/* Adds an open state to its row; samples and bytes only if 'profile' is 1. */
void seen_add (SeenNamed *to, const Seen *s, int profile);
/* Clears all sums and keeps the names, in the child of a fork. */
void seen_forked (void);

#endif
