/* SPDX-License-Identifier: MIT */
/*
** Measures where the resident memory of the process is, from the system's mappings and malloc
** (mappings.h) and from the last footprint of each Lua state that is sampled or listens
** (footprint.h). The result consists of rows whose bytes add up to the resident size, except rows
** that are part of another row.
**
**   RQ1  every state measures its own heap, on its own thread, after a collection. Other threads
**        read the result under one lock, which is never held while waiting for a writer;
**   RQ2  a state spends at most 1 / RESIDENT_SHARE of the time on measurements, at most once a
**        second, unless its heap has grown by half or shrunk to half. All states, whose
**        sessions may be many and short, together spend 1 / RESIDENT_ALL of the time since the
**        first measurement plus RESIDENT_FREE. Bytes reserved since a state's last measurement, or by a state not yet measured, have a row of
**        their own. A state that ends measures only if its profile is due a picture, the last that
**        shows its memory;
**   RQ3  a profile receives a picture (rows of one time) when resident memory has changed by a
**        sixteenth since the last picture or a minute has passed, and at the end, within RQ2. None
**        in its first 20 ms. When they have taken 1 / PICTURES_SHARE of the time, only a change by
**        a quarter causes one: reading the mappings takes 200 us or more.
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
  uint64_t reported, rss, cost;
  uint64_t started;	/* start of the session, or time of the first collection; atomic */
} ResidentPolicy;

/* The part of a state. All zero: not yet measured. */
typedef struct Resident {
  struct Resident *next, *before;
  int listed;
  uint64_t held;	/* Bytes that the state reserves, from the last resident_held; atomic. */
  uint64_t measured;	/* Bytes it reserved at its last measurement. */
  uint64_t due;		/* Time of the next measurement, ns. */
  Footprint footprint;
  ResidentPolicy policy;
} Resident;

/*
** resident_join adds a state that shares a profile. resident_held sets the bytes that it
** reserves; it takes no lock and is async-signal-safe. Without these calls the last measurement
** counts.
*/
void resident_join (Resident *r);
static inline void resident_held (Resident *r, uint64_t bytes) {
  __atomic_store_n(&r->held, bytes, __ATOMIC_RELAXED);
}

enum { RESIDENT_STATE = 1, RESIDENT_PROFILE };	/* values of 'last' below */

/*
** Called after a collection of the state. Measures if it is due, and emits a picture to the
** profile of 'state' (NULL: none). 'policy' belongs to the profile. 'last': 0, or
** RESIDENT_STATE or RESIDENT_PROFILE if that ends; a profile receives a picture at its end.
*/
void resident_measure (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last);

/* Removes the state, at its end or that of its session. */
void resident_leave (Resident *r);

/*
** Counts native memory of closed states (orphans.h) by the allocating line. resident_left adds
** bytes to a line and returns its index; resident_freed subtracts them, without a lock.
*/
unsigned resident_left (const char *where, uint64_t bytes);
void resident_freed (unsigned line, uint64_t bytes);

/*
** In the child of a fork: forgets all measurements. The memory of the parent's states is not
** freed, because another thread may have been changing it.
*/
void resident_forked (void);
void resident_forget (Resident *r);

/*
** Returns the present rows and their number; the caller frees them. Thread-safe. Returns NULL if
** there is not enough memory.
*/
ResidentRow *resident_rows (size_t *n);

#endif
