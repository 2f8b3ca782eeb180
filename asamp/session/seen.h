/* SPDX-License-Identifier: MIT */
/*
** Numbers of a state that other OS threads may read while it runs. The state's own thread
** stores them here one by one, at its samples, at safepoints for time samples, and at the end of
** collections. Readers add them up and never read the lua_State, where related numbers (a counter
** and the fill level of a block) may be of different times, so that their difference has no
** meaning. Invariants:
**
**   SE1  the numbers are written by the state's own thread and read by any (atomic);
**   SE2  each has the value at the state's last sample, safepoint or collection. None decreases
**        while the state stays with one profile, except SEEN_INUSE, SEEN_HELD and SEEN_TENURED.
**
** Totals are kept by name, because there may be thousands of states: for each name the sums
** over closed states, to which the reader adds the open ones.
**
**   SE3  names are looked up and sums changed with the lock of all samplers held; the number of
**        a name is permanent. The last number is for names beyond the limit.
*/
#ifndef asamp_seen_h
#define asamp_seen_h

#include <stdint.h>

#include "bounds.h"
#include "sample.h"

typedef enum SeenNumber {
  SEEN_SAMPLES, SEEN_TIMESAMPLES, SEEN_NATIVES, SEEN_BYTES,  /* of its profile */
  SEEN_INUSE, SEEN_HELD, SEEN_TENURED,  /* of its heap, at present */
  SEEN_MINORS, SEEN_MAJORS, SEEN_PAUSES, SEEN_LONGEST,  /* of its heap's life; pauses in ns */
  /* data dropped by limits (ProfileLeft) */
  SEEN_CHUNKS, SEEN_FUNCTIONS, SEEN_CLASSES, SEEN_PATHS, SEEN_STEPS,
  SEENS
} SeenNumber;

/* The published numbers of a state. */
typedef struct Seen {
  uint64_t numbers[SEENS];
  const void *thread;	/* Identifies the thread that wrote them: an address unique to it. */
} Seen;

static inline void seen_put (Seen *s, SeenNumber which, uint64_t n) {
  __atomic_store_n(&s->numbers[which], n, __ATOMIC_RELAXED);
}

static inline uint64_t seen_get (const Seen *s, SeenNumber which) {
  return __atomic_load_n(&s->numbers[which], __ATOMIC_RELAXED);
}

/* Copies the numbers of dropped data to *left. */
void seen_left (const Seen *s, ProfileLeft *left);

enum { SEEN_UNNAMED = 0 };	/* number of the name of states that have no allocation sample */

/* Sums over the states with one name. */
typedef struct SeenNamed {
  const char *name;	/* "" for SEEN_UNNAMED; valid for the life of the process */
  uint64_t open, made;	/* numbers of open states, and of all that received the name */
  uint64_t samples, bytes, minors, majors, pauses;  /* of all states; pauses in ns */
  uint64_t inuse, held;	/* of the open states */
} SeenNamed;

/*
** Returns the number of a script's name (SE3), given as the source in lua_Debug. Counts one more
** state with that name.
*/
unsigned seen_name (const char *source);
/* Returns the name with that number, valid for the life of the process. */
const char *seen_text (unsigned name);
/*
** Adds numbers of a state to the sums of its name: if 'profile' is 1 (the state leaves its
** profile), samples and bytes; if 'heap' is 1 (the state was closed), collections and pauses.
*/
void seen_past (unsigned name, const Seen *s, int profile, int heap);
/* Copies the sums over past states, SEEN_NAMES rows, and returns the number of rows. */
unsigned seen_named (SeenNamed *to);
/* Adds an open state to the row of its name; with its samples and bytes only if 'profile' is 1. */
void seen_add (SeenNamed *to, const Seen *s, int profile);
/* In the child of a fork: clears all sums, and keeps the names. */
void seen_forked (void);

#endif
