/* SPDX-License-Identifier: MIT */
/*
** Where the resident memory of the process is: what the system says of its mappings
** (smaps.h), what malloc says, and what each Lua state that is sampled, or listens, said
** at its last look (footprint.h). All of it in rows, whose bytes add up to what is
** resident, but for those that are part of another row.
**
**   RS1 every state looks at its own heap, on its own thread, when a collection is over;
**       what it found is read by others under one lock, which nobody holds while it waits
**       for a writer;
**   RS2 a look costs at most one part in RESIDENT_SHARE of the time, and comes at most
**       once a second, but for one whenever the heap has grown by half or come down to half;
**       and those of all states, whose sessions may be many and short, cost one part in
**       RESIDENT_ALL of the time since the first, and RESIDENT_FREE beside. What a state
**       holds more than at its last look, or holds and has not looked at, is a row;
**   RS3 a profile gets a picture (rows of one time) when resident memory has changed by
**       a sixteenth since the last, or a minute has gone by; and at the end, if RS2 lets it. Not
**       in the first 10 ms: a short session has one picture, that of its end.
*/
#ifndef asamp_resident_h
#define asamp_resident_h

#include "footprint.h"
#include "profile.h"
#include "tracker.h"

#define RESIDENT_SHARE	1000u
#define RESIDENT_ALL	50u
#define RESIDENT_FREE	UINT64_C(50000000)	/* ns */

/* The words of rows; doc/profile-format.md says what they mean. */
typedef struct ResidentRow {
  const char *what;
  int64_t bytes;
  char text[256];	/* a file, a line; "": none */
} ResidentRow;

/* When the next picture is due. All zero: a moment after the first collection. */
typedef struct ResidentPolicy {
  uint64_t told, rss, cost;
  uint64_t began;	/* time of the first collection, ns; atomic */
} ResidentPolicy;

/* A state's part. All zero: it has not looked yet. */
typedef struct Resident {
  struct Resident *next, *before;
  int listed;
  uint64_t held;	/* bytes that the state holds, as of its last resident_held; atomic */
  uint64_t looked;	/* that it held at its last look */
  uint64_t due;		/* the next look */
  Footprint footprint;
  ResidentPolicy policy;
} Resident;

/* A state that shares a profile begins; and holds so many bytes (no lock, from a handler, too).
   Without these what it holds is as of its last look. */
void resident_join (Resident *r);
static inline void resident_held (Resident *r, uint64_t bytes) {
  __atomic_store_n(&r->held, bytes, __ATOMIC_RELAXED);
}

enum { RESIDENT_STATE = 1, RESIDENT_PROFILE };	/* what ends */

/* A collection of the state is over: it looks, if that is due, and tells the profile (NULL:
   there is none). 'policy': of the profile. 'last': 0, or what ends; the profile has a picture of
   its end. */
void resident_look (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last);

/* The state is closed, or its session has ended. */
void resident_leave (Resident *r);

/*
** Native memory that closed states have left (orphans.h), by the lines that asked for it. The
** number of such a line, for which that many bytes are added; and they are not there any more,
** which takes no lock.
*/
unsigned resident_left (const char *where, uint64_t bytes);
void resident_freed (unsigned line, uint64_t bytes);

/* In the child of a fork: nobody has looked yet. What the parent's states had found stays
   allocated, for another thread may have been at it. */
void resident_forked (void);
void resident_forget (Resident *r);

/* Rows of now, of any thread; their number, and what is to be freed. NULL: no memory. */
ResidentRow *resident_rows (size_t *n);

#endif
