/* SPDX-License-Identifier: MIT */
/*
** Numbers about a state that other OS threads may read while it runs. The state's own thread
** stores them here one by one, at its samples, at safepoints for time samples, and at the end of
** collections. Readers add up these copies. They never read the lua_State itself: related numbers
** there (a counter and the fill level of a block) may be of different times, so that their
** difference has no meaning. Invariants:
**
**   SE1  the numbers are written by the state's own thread and read by any (atomic);
**   SE2  each number has the value at the state's last sample, safepoint or collection. While the
**        state stays with one profile, none decreases, except SEEN_INUSE, SEEN_HELD and
**        SEEN_TENURED.
**
** Because there may be thousands of states, totals are kept by name. For each name, sums over the
** closed states are stored here, and the reader adds the open states.
**
**   SE3  names are looked up and sums are changed with the lock of all samplers held. The number
**        of a name is permanent. The last number is for all names beyond the limit.
*/
#ifndef asamp_seen_h
#define asamp_seen_h

#include <stdint.h>

#include "bounds.h"
#include "sample.h"

typedef enum SeenNumber {
  /* numbers of samples, and allocated bytes, since the state joined its profile */
  SEEN_SAMPLES, SEEN_TIMESAMPLES, SEEN_NATIVES, SEEN_BYTES,
  SEEN_INUSE, SEEN_HELD, SEEN_TENURED,  /* of the state's heap, at the last update, in bytes */
  SEEN_MINORS, SEEN_MAJORS, SEEN_PAUSES, SEEN_LONGEST,  /* of the state's heap, since it was made;
							   pauses in ns */
  /* counts of data that were dropped because of limits (ProfileLeft) */
  SEEN_CHUNKS, SEEN_FUNCTIONS, SEEN_CLASSES, SEEN_PATHS, SEEN_STEPS,
  SEENS
} SeenNumber;

/* The numbers of a state that other threads may read. */
typedef struct Seen {
  uint64_t numbers[SEENS];
  const void *thread;	/* Thread that wrote the numbers, identified by an address that is unique
			   to it. */
} Seen;

static inline void seen_put (Seen *s, SeenNumber which, uint64_t n) {
  __atomic_store_n(&s->numbers[which], n, __ATOMIC_RELAXED);
}

static inline uint64_t seen_get (const Seen *s, SeenNumber which) {
  return __atomic_load_n(&s->numbers[which], __ATOMIC_RELAXED);
}

/* Copies to *left the counts of data of the state that were dropped because of limits. */
void seen_left (const Seen *s, ProfileLeft *left);

enum { SEEN_UNNAMED = 0 };	/* number of the name "", of states that have no allocation sample
				   yet */

/* Sums over all states that have the same name. */
typedef struct SeenNamed {
  const char *name;	/* "" for SEEN_UNNAMED; valid for the life of the process */
  uint64_t open, made;	/* number of open states; number of all states that received the name */
  uint64_t samples, bytes, minors, majors, pauses;  /* sums over all states; pauses in ns */
  uint64_t inuse, held;	/* sums over the open states, in bytes */
} SeenNamed;

/*
** Returns the number of a script's name, by which totals are kept (SE3), and counts one more state
** with that name. 'source' is the source in lua_Debug.
*/
unsigned seen_name (const char *source);
/* Returns the name with that number, valid for the life of the process. */
const char *seen_text (unsigned name);
/* Adds numbers of a state to the sums of its name: samples and bytes if 'profile' is 1 (the state
   leaves its profile), collections and pauses if 'heap' is 1 (the state was closed). */
void seen_past (unsigned name, const Seen *s, int profile, int heap);
/* Stores the sums over past states in 'to'. The index of a row is the number of its name. Returns
   SEEN_NAMES, the number of rows. */
unsigned seen_named (SeenNamed *to);
/* Adds an open state to the row of its name. Its samples and bytes are added only if 'profile' is
   1. */
void seen_add (SeenNamed *to, const Seen *s, int profile);
/* In the child of a fork: clears all sums, and keeps the names. */
void seen_forked (void);

#endif
