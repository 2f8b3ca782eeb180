/* SPDX-License-Identifier: MIT */
/*
** Measures where the resident memory of the process is, as rows: the bytes of each use. The data
** come from the system's mappings and malloc (mappings.h), and from the last footprint
** (footprint.h) of each Lua state. A snapshot is all rows at one time.
**
**   RQ1  a state measures its own heap, on its own thread, after a collection or at its end. Other
**        threads read the result under a lock, which is never held while waiting for a writer;
**   RQ2  the CPU time of all measurements is at most 1 / RESIDENT_ALL of the elapsed time, plus
**        RESIDENT_FREE. The measurements of one state take at most 1 / RESIDENT_SHARE of the time
**        and run at most once a second, but a heap that has doubled or halved is measured earlier.
**        At the end of a state, its heap is measured only if a snapshot is due;
**   RQ3  a snapshot follows a measurement that RQ2 allows. A snapshot is due when resident memory
**        has changed by a sixteenth, after a minute, at the end of the profile, and at the end of a
**        state unless the last snapshot is recent (ENDING in resident.c). If snapshots have taken
**        more than 1 / PICTURES_SHARE of the time, the change must be a quarter, except at the end
**        of a state.
*/
#ifndef asamp_resident_h
#define asamp_resident_h

#include "footprint.h"
#include "profile.h"
#include "tracker.h"

#define RESIDENT_SHARE	1000u
#define RESIDENT_ALL	50u
/* CPU time (ns) that the measurements of all states may take in addition to 1 / RESIDENT_ALL of the
   elapsed time. */
#define RESIDENT_FREE	UINT64_C(50000000)
#define PICTURES_SHARE	500u

/* A row of a snapshot: the bytes of memory with one use. doc/profile-format.md lists the uses. */
typedef struct ResidentRow {
  const char *what;
  int64_t bytes;
  char text[256];	/* name of a file, or a source line; "": none */
} ResidentRow;

/* Data that decide when the next snapshot of a profile is due. Times are in ns. If all fields are
   0, the first snapshot is due 20 ms after the first collection. */
typedef struct ResidentPolicy {
  /* The last snapshot.
     reported  time of the snapshot
     rss       resident bytes at that time
     cost      CPU time of the last measurement of a heap, with its snapshot if there was one */
  uint64_t reported, rss, cost;
  /* Time at which the profile started. In a session with its own profile: the start of the
     session. For shared profiles, which have one policy: the end of the first collection of any
     state. 0: not started. Atomic. */
  uint64_t started;
} ResidentPolicy;

/* The last measurement of one state. All zero: the state was not measured. */
typedef struct Resident {
  struct Resident *next, *before;
  int listed;
  uint64_t held;	/* Bytes that the state's heap reserves now; atomic. */
  uint64_t measured;	/* Bytes that the state's heap reserved at the last measurement. */
  /* Time (ns) from which a measurement of the state is due even if the size of its heap has not
     changed. */
  uint64_t due;
  Footprint footprint;
  ResidentPolicy policy;
} Resident;

/* Adds a state to the list of measured states. */
void resident_join (Resident *r);
/* Sets the bytes that the state's heap reserves. Async-signal-safe. */
static inline void resident_held (Resident *r, uint64_t bytes) {
  __atomic_store_n(&r->held, bytes, __ATOMIC_RELAXED);
}

/* Values of the parameter 'last' of resident_measure: the state, or the profile, is about to
   end. */
enum { RESIDENT_STATE = 1, RESIDENT_PROFILE };

/* Measures the state's heap if a measurement is due and RQ2 allows it. After a measurement, emits a
   snapshot to the profile of 'state' if a snapshot is due; if 'state' is NULL, emits none. 'last':
   0 after a collection; RESIDENT_STATE or RESIDENT_PROFILE before the end of the state or the
   profile. */
void resident_measure (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last);

/* Removes a state that ends from the list of measured states, if resident_join has added it. */
void resident_leave (Resident *r);

/* Counts native memory that a closed state has allocated and not freed: adds 'bytes' to the sum for
   the source line 'where', which allocated the memory. Returns the index of the line. */
unsigned resident_left (const char *where, uint64_t bytes);
/* Call it when native memory that resident_left has counted is freed: subtracts 'bytes' from the
   sum for the source line. 'line': the result of resident_left. Takes no lock. */
void resident_freed (unsigned line, uint64_t bytes);

/* In a forked child: empties the list of measured states and sets the sums of resident_left to 0,
   without freeing memory. */
void resident_forked (void);
/* In a forked child: clears the measurement of one state, without freeing memory. */
void resident_forget (Resident *r);

/* Returns the current rows of resident memory, in an array that the caller frees; NULL: none.
   Stores their number in *n. Thread-safe. */
ResidentRow *resident_rows (size_t *n);

#endif
