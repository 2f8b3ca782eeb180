/* SPDX-License-Identifier: MIT */
/*
** Measures where the resident memory of the process is, from the system's mappings and malloc
** (mappings.h) and from the last footprint (footprint.h) of each Lua state that is sampled or
** attached (sampler_attach). The result consists of rows. The bytes of all rows except "rss" and
** those that are part of another row add up to the resident size, if the mappings can be read.
**
**   RQ1  every state measures its own heap, on its own thread, after a collection or when it ends.
**        Other threads read the result under one lock, which is never held while waiting for a
**        writer;
**   RQ2  a state spends at most 1 / RESIDENT_SHARE of the time on measurements, and measures at
**        most once a second, unless its heap has grown by half or shrunk to half. All states,
**        whose sessions may be many and short, together spend at most 1 / RESIDENT_ALL of the
**        time since the first measurement plus RESIDENT_FREE. Bytes that a state has reserved
**        since its last measurement have a row of their own. A state that ends measures only if a
**        picture of its profile is due, the last that shows the state's memory;
**   RQ3  a profile receives a picture (rows of one time) when resident memory has changed by a
**        sixteenth since the last picture or a minute has passed, and at its end, within RQ2; none
**        in its first 20 ms, unless a state ends. While all pictures have taken more than
**        1 / PICTURES_SHARE of the time, a change must be a quarter, unless a state ends: reading
**        the mappings takes 200 us or more.
*/
#ifndef asamp_resident_h
#define asamp_resident_h

#include "footprint.h"
#include "profile.h"
#include "tracker.h"

#define RESIDENT_SHARE	1000u
#define RESIDENT_ALL	50u
#define RESIDENT_FREE	UINT64_C(50000000)	/* ns */
#define PICTURES_SHARE	500u

/* A row. doc/profile-format.md lists the values of 'what'. */
typedef struct ResidentRow {
  const char *what;
  int64_t bytes;
  char text[256];	/* a file or a line; "": none */
} ResidentRow;

/* Decides when the next picture is due; all zero: 20 ms after the first collection. Times in ns. */
typedef struct ResidentPolicy {
  /* time of the last picture; resident bytes then; time that the last measurement took */
  uint64_t reported, rss, cost;
  uint64_t started;	/* start of the session, or time of the first collection; atomic */
} ResidentPolicy;

/* The part of a state. All zero: not yet measured. */
typedef struct Resident {
  struct Resident *next, *before;
  int listed;
  uint64_t held;	/* Bytes that the state reserves, from the last resident_held; atomic. */
  uint64_t measured;	/* Bytes that it reserved at its last measurement. */
  uint64_t due;		/* Time of the next measurement, ns. */
  Footprint footprint;
  ResidentPolicy policy;
} Resident;

/* Adds a state that shares a profile. Any other state is added by its first measurement. */
void resident_join (Resident *r);
/*
** Sets the bytes that the state reserves, which would else be those of its last measurement. Takes
** no lock. Async-signal-safe.
*/
static inline void resident_held (Resident *r, uint64_t bytes) {
  __atomic_store_n(&r->held, bytes, __ATOMIC_RELAXED);
}

enum { RESIDENT_STATE = 1, RESIDENT_PROFILE };	/* values of 'last' below */

/*
** Called after a collection of the state, and at an end: 'last' is RESIDENT_STATE if the state
** ends, RESIDENT_PROFILE if the profile ends, else 0. If a measurement is due, makes it, and then,
** if a picture is due, emits one to the profile of 'state' (NULL: none). 'policy' belongs to the
** profile.
*/
void resident_measure (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last);

/* Removes the state, at its end or that of its session. */
void resident_leave (Resident *r);

/*
** Adds bytes to the native memory of closed states (orphans.h) that source line 'where' allocated.
** Returns the line's index.
*/
unsigned resident_left (const char *where, uint64_t bytes);
/* Subtracts bytes again; 'line' from resident_left. Takes no lock. */
void resident_freed (unsigned line, uint64_t bytes);

/*
** In the child of a fork: forgets the list of states and all sums. Does not free the memory of the
** parent's measurements, because another thread may have been changing it.
*/
void resident_forked (void);
/* In the child of a fork: forgets the part of one state, likewise. */
void resident_forget (Resident *r);

/*
** Returns the present rows, which the caller frees, and their number in *n. Thread-safe. Rows of 0
** bytes, and those for which there is no memory, are missing; NULL: all are.
*/
ResidentRow *resident_rows (size_t *n);

#endif
