/* SPDX-License-Identifier: MIT */
/*
** Measures where the resident memory of the process is. The data come from the system's mappings
** and malloc (mappings.h), and from the last footprint (footprint.h) of each Lua state that is
** sampled or attached (sampler_attach). The result consists of rows. If the mappings can be read,
** the bytes of all rows add up to the resident size, except "rss" itself and rows that are part of
** another row.
**
**   RQ1  every state measures its own heap, on its own thread, after a collection or when it ends.
**        Other threads read the result under one lock. The lock is never held while waiting for a
**        writer;
**   RQ2  measurements take a bounded share of the time:
**          - A state spends at most 1 / RESIDENT_SHARE of the time on them, and measures at most
**            once a second, unless its heap has grown by half or shrunk to half.
**          - All states, whose sessions may be many and short, together spend at most RESIDENT_FREE
**            plus 1 / RESIDENT_ALL of the time since the first measurement.
**          - A state that ends measures only if a snapshot for its profile is due (RQ3), which is
**            the last one with the state's memory.
**        Bytes that a state has reserved since its last measurement have a row of their own;
**   RQ3  a profile receives snapshots of resident memory. A snapshot is all rows at one time. It is
**        due when resident memory has changed by a sixteenth since the last snapshot, when a minute
**        has passed since then, and at the end of the profile. Exceptions:
**          - It is left out if RQ2 forbids a measurement.
**          - In a profile's first 20 ms it is due only if a state ends.
**          - While all snapshots have taken more than 1 / PICTURES_SHARE of the time, the change
**            must be a quarter, unless a state ends: reading the mappings takes 200 us or more.
*/
#ifndef asamp_resident_h
#define asamp_resident_h

#include "footprint.h"
#include "profile.h"
#include "tracker.h"

#define RESIDENT_SHARE	1000u
#define RESIDENT_ALL	50u
#define RESIDENT_FREE	UINT64_C(50000000)	/* ns that measurements may take in addition to
						   their share of the time (RQ2) */
#define PICTURES_SHARE	500u

/* A row: the bytes of one kind of resident memory. doc/profile-format.md lists the kinds, the
   values of 'what'. */
typedef struct ResidentRow {
  const char *what;
  int64_t bytes;
  char text[256];	/* path of a file, or a source line; "": neither */
} ResidentRow;

/* Data that decide when a profile's next snapshot of resident memory is due (RQ3). If all are zero,
   the first snapshot is due 20 ms after the first collection. Times are in ns. */
typedef struct ResidentPolicy {
  /* 'reported': time of the last snapshot. 'rss': resident bytes at that time. 'cost': CPU time
     that the last measurement of a state took */
  uint64_t reported, rss, cost;
  uint64_t started;	/* start of the session, or time of the first collection; atomic */
} ResidentPolicy;

/* The last measurement of one state's heap. All zero: not yet measured. */
typedef struct Resident {
  struct Resident *next, *before;
  int listed;
  uint64_t held;	/* Bytes that the state reserves, from the last resident_held; atomic. */
  uint64_t measured;	/* Bytes that the state reserved at its last measurement. */
  uint64_t due;		/* Time from which on a measurement is due even if the heap's size has
			   changed little, ns. */
  Footprint footprint;
  ResidentPolicy policy;
} Resident;

/* Adds a state that shares a profile to the list of measured states. Any other state is added by
   its first measurement. */
void resident_join (Resident *r);
/*
** Sets 'held', the number of bytes that the state reserves at present. Takes no lock.
** Async-signal-safe.
*/
static inline void resident_held (Resident *r, uint64_t bytes) {
  __atomic_store_n(&r->held, bytes, __ATOMIC_RELAXED);
}

enum { RESIDENT_STATE = 1, RESIDENT_PROFILE };	/* values of 'last' of resident_measure */

/*
** Measures the state if a measurement is due (RQ2). Then, if a snapshot is due (RQ3), emits one to
** the profile of 'state' (NULL: emits none). 'policy' is that of the profile. Called after a
** collection of the state ('last' is 0), before the state ends (RESIDENT_STATE), and before its
** profile ends (RESIDENT_PROFILE).
*/
void resident_measure (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last);

/* Removes the state from the list of measured states, at its end or at the end of its session. */
void resident_leave (Resident *r);

/*
** Adds bytes to the native memory of closed states (orphans.h) that was allocated by source line
** 'where'. Returns the line's index.
*/
unsigned resident_left (const char *where, uint64_t bytes);
/* Subtracts bytes that resident_left has added; 'line' is its result. Takes no lock. */
void resident_freed (unsigned line, uint64_t bytes);

/*
** In the child of a fork: forgets the list of states and all sums. Does not free the memory of the
** parent's measurements, because another thread may have been changing it.
*/
void resident_forked (void);
/* In the child of a fork: forgets the measurement of one state, also without freeing memory. */
void resident_forget (Resident *r);

/*
** Returns the present rows and stores their number in *n. The caller frees them. Rows of 0 bytes
** are missing, as are rows for which there is no memory. NULL: there are no rows. Thread-safe.
*/
ResidentRow *resident_rows (size_t *n);

#endif
