/* SPDX-License-Identifier: MIT */
/*
** Numbers about a Lua state that other OS threads may read while the state runs. The state's thread
** copies the numbers here after each sample, collection and safepoint; other threads never read the
** lua_State. Sums are kept by the state's name, because there may be thousands of states.
**
**   SE1  the numbers are written by the state's own thread and read by any thread (atomic);
**   SE2  each number has its value at the last copy. While the state uses one profile, no number
**        decreases, except SEEN_INUSE and SEEN_HELD;
**   SE3  names and sums are read and changed with the lock of the list of samplers held (SS1 of
**        sampler.h). The number of a name is permanent; the last number is for all names beyond the
**        limit;
**   SE4  SEEN_BYTES is also copied when a protected call (lua_pcall, lua_resume) returns to the
**        host program. So the number is exact while the state does not run, even if the thread that
**        ran the state last has ended; only bytes that the host program allocates outside of
**        protected calls may be missing.
*/
#ifndef asamp_seen_h
#define asamp_seen_h

#include <stdint.h>

#include "bounds.h"
#include "sample.h"

typedef enum SeenNumber {
  /* Numbers since the state joined its profile: samples of allocations, of time and of native
     memory, and allocated bytes. */
  SEEN_SAMPLES, SEEN_TIMESAMPLES, SEEN_NATIVES, SEEN_BYTES,
  SEEN_INUSE, SEEN_HELD,  /* bytes: in use by the heap, reserved by the heap */
  /* Numbers since the state was made or, in a forked child, since the fork: tenured bytes, minor
     collections, major collections, total of pauses (ns). */
  SEEN_TENURED, SEEN_MINORS, SEEN_MAJORS, SEEN_PAUSES,
  /* counts of dropped data (ProfileLeft) */
  SEEN_CHUNKS, SEEN_FUNCTIONS, SEEN_CLASSES, SEEN_PATHS, SEEN_STEPS,
  SEENS
} SeenNumber;

/* The published numbers of a state. */
typedef struct Seen {
  uint64_t numbers[SEENS];
  /* In a forked child: values of SEEN_TENURED to SEEN_PAUSES from before the fork, which 'numbers'
     does not include. Otherwise 0. */
  uint64_t parents[SEENS];
} Seen;

static inline void seen_put (Seen *s, SeenNumber which, uint64_t n) {
  __atomic_store_n(&s->numbers[which], n, __ATOMIC_RELAXED);
}

static inline uint64_t seen_get (const Seen *s, SeenNumber which) {
  return __atomic_load_n(&s->numbers[which], __ATOMIC_RELAXED);
}

/* Copies the counts of dropped data to *left. */
void seen_left (const Seen *s, ProfileLeft *left);

/* number of the name "", which a state has until its first allocation sample */
enum { SEEN_UNNAMED = 0 };

/* Sums over the states with one name. */
typedef struct SeenNamed {
  const char *name;	/* never freed */
  uint64_t open, made;	/* numbers of open states and of all states so far */
  /* sums[i]: sum of the number i (SeenNumber). For SEEN_INUSE and SEEN_HELD: over the open states.
     For SEEN_SAMPLES to SEEN_BYTES and SEEN_TENURED to SEEN_PAUSES: over all states so far. Other
     elements are 0. */
  uint64_t sums[SEENS];
} SeenNamed;

/* Counts a new state with the script 'source' (of lua_Debug): adds 1 to SeenNamed.made of the
   script's name. Returns the number of the name. Lock of the list of samplers held (SE3). */
unsigned seen_name (const char *source);
/* Returns the name with the number 'name'. The text is never freed. */
const char *seen_text (unsigned name);
/* Adds the numbers 'first' to 'last' of a state to the sums for the name with number 'name'. Call
   it with SEEN_SAMPLES to SEEN_BYTES when the state leaves its profile, and with SEEN_TENURED to
   SEEN_PAUSES when the state is closed. */
void seen_past (unsigned name, const Seen *s, SeenNumber first, SeenNumber last);
/* Copies to to[i] the sums that seen_past has made for the name with number i, and the number of
   states made with this name. Returns the number of elements, SEEN_NAMES. */
unsigned seen_named (SeenNamed *to);
/* Adds an open state to *to, the sums for the state's name: adds 1 to to->open, and the numbers
   SEEN_INUSE to SEEN_PAUSES. 'profile' 1: the state reports to a profile, so also adds SEEN_SAMPLES
   to SEEN_BYTES. */
void seen_add (SeenNamed *to, const Seen *s, int profile);
/* Call it in a forked child for each state: sets the numbers SEEN_TENURED to SEEN_PAUSES to 0. */
void seen_restart (Seen *s);
/* Call it in a forked child: sets all numbers in the sums by state name (SeenNamed) to 0, because
   they count for the parent process. Keeps the names. */
void seen_forked (void);

#endif
