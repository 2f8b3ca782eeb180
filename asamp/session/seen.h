/* SPDX-License-Identifier: MIT */
/*
** What other OS threads may know of a state while it runs. Its own thread puts numbers here,
** one by one, at its samples and at the ends of its collections; who asks adds them up, and
** reads nothing of the state itself: there two numbers that belong together, a counter and
** the place that a block is filled to, may be of different moments, and what they come to
** may then be any number at all. Invariants:
**   SE1  the numbers are written by the state's own thread, and read by any (atomic);
**   SE2  each is one that was, at most a sample's interval and a collection ago, and none
**        falls while the state is with one profile but those of the heap.
**
** States are told apart by what they are called, for there may be thousands: of each name
** there are the sums over the states that were, and who asks adds those that are.
**   SE3  names are found, and sums change, under the lock of all samplers; a name's number
**        stays. The last one is for what found no room.
*/
#ifndef asamp_seen_h
#define asamp_seen_h

#include <stdint.h>

#include "bounds.h"
#include "sample.h"

typedef enum SeenNumber {
  SEEN_SAMPLES, SEEN_TIMESAMPLES, SEEN_NATIVES, SEEN_BYTES,  /* of its profile */
  SEEN_INUSE, SEEN_HELD, SEEN_TENURED,  /* of its heap, now */
  SEEN_MINORS, SEEN_MAJORS, SEEN_PAUSES, SEEN_LONGEST,  /* ... since it was made; ns */
  SEEN_CHUNKS, SEEN_FUNCTIONS, SEEN_CLASSES, SEEN_PATHS, SEEN_STEPS,  /* left out (ProfileLeft) */
  SEENS
} SeenNumber;

typedef struct Seen {
  uint64_t numbers[SEENS];
  const void *thread;	/* whose numbers they are: an address that no other thread has */
} Seen;

static inline void seen_put (Seen *s, SeenNumber which, uint64_t n) {
  __atomic_store_n(&s->numbers[which], n, __ATOMIC_RELAXED);
}

static inline uint64_t seen_get (const Seen *s, SeenNumber which) {
  return __atomic_load_n(&s->numbers[which], __ATOMIC_RELAXED);
}

void seen_left (const Seen *s, ProfileLeft *left);

enum { SEEN_UNNAMED = 0 };	/* the number of states that have taken no sample yet */

/* Sums over the states of a name. */
typedef struct SeenNamed {
  const char *name;	/* "" of SEEN_UNNAMED; stays */
  uint64_t open, made;	/* states; 'made' while they had that name */
  uint64_t samples, bytes, minors, majors, pauses;  /* of all that there were; ns */
  uint64_t inuse, held;	/* of those that are open */
} SeenNamed;

/* The number of the name of a script (as lua_Debug has its source). */
unsigned seen_name (const char *source);
/* What the name of that number is; stays. */
const char *seen_text (unsigned name);
/* What a state of that name was, which is open no more, or with another profile; 'profile':
   its samples and bytes. 'heap': its collections. */
void seen_past (unsigned name, const Seen *s, int profile, int heap);
/* Sums of those that were, of SEEN_NAMES names, behind which seen_add adds those that are.
   How many there are. */
unsigned seen_named (SeenNamed *to);
void seen_add (SeenNamed *to, const Seen *s, int profile);
/* In the child of a fork: nothing was. */
void seen_forked (void);

#endif
