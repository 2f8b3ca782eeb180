/* SPDX-License-Identifier: MIT */
/*
** The profile: the stream of events that a run leaves in a file.
**
** The program's thread hands events over (profile_sample and the like: a
** copy into a buffer under a short lock, no I/O, no compression, never a Lua
** allocation). A writer thread of the profile encodes them as a VMProf log,
** compresses and writes, and flushes at least once a second, so that a
** killed run keeps all but its last second.
**
** Two encoders over one stream: PROFILE_STOCK (VMProf version 6, read by the
** VMProf tools of today; what version 6 has no place for goes into numbered
** private metas) and PROFILE_EXTENDED (version 7 with GC stacks and object
** info, as the readers of the allocation sampling paper want it).
**
** Rules that hold for every stream:
**   P1  a function is emitted before the first sample that shows it;
**   P2  samples are in the order in which they were taken;
**   P3  a collection decides the fate of every allocation sample before it, in
**       order; what no collection decided is counted in the meta
**       "asamp.undecided". Time samples have no fate;
**   P4  nothing is lost in silence: an event that finds no room or a write
**       that fails is counted and told by profile_close;
**   P5  a stack is told as what is new in it: 'shared' is how many of its
**       outermost frames, lines included, are those of the stack told before
**       it by the same state, by a sample of either sort. Telling costs what
**       changed; the writer's thread puts stacks together. 0 is always right;
**   P6  a class is emitted before the first fate that names it, with ids 1,
**       2, ... in that order, once each;
**   P7  samples that survived are followed, in the order of their fates, but
**       for those whose fate is 2. A death takes a sample out of that list;
**   P8  all rules hold for each state by itself: a profile of many states is as many
**       streams in one file. Each of them is told by one thread at a time.
** No function here may be called from a signal handler, but profile_exit.
** This file knows no Lua.
*/
#ifndef asamp_profile_h
#define asamp_profile_h

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "encoder.h"
#include "ring.h"
#include "sample.h"

/* Limits of one event: new frames of a stack, bytes of texts (cut there). */
enum { PROFILE_NEWFRAMES = 65536, PROFILE_NAME = 255, PROFILE_VALUE = 4095 };

typedef struct ProfileConfig {
  const char *path;     /* of the file: what place.h makes of it with ... */
  unsigned number;      /* ... these four, named as there */
  int made;
  int replace;
  int (*taken)(const struct stat *file);
  int folder;
  int compress;         /* 1: gzip, 0: plain */
  EncoderConfig log;    /* 'pid' is set by profile_open. 'states': those that tell
                           something begin by profile_begin */
  /*
  ** Called on the writer's thread, without a lock of the profile's, when the file
  ** takes no more for the first time, and is waited for; and, with error 0, when it goes
  ** on for the first time: so many samples were lost. NULL: nobody wants to know.
  */
  void (*stalled)(const char *path, int error, uint64_t lost);
  /* Called on the writer's thread after every buffer, and now and then. NULL: nothing is
     to be done. Returns whether there was anything to do: there may be more soon. */
  int (*round)(void);
  /* Not 0: a flight recorder (ring.h), which has no file but what profile_dump makes, and
     at the end. */
  RingLimits ring;
} ProfileConfig;

typedef struct ProfileTotals {
  uint64_t samples;   /* allocation samples written (counts added up) */
  uint64_t timesamples;  /* time samples, likewise */
  uint64_t lost;      /* samples that found no room or could not be written */
  uint64_t all;       /* these, and those that were lost before (profile_lost) */
  uint64_t bytes;     /* size of the file */
  int error;          /* errno of the first write that failed, or of why the file
                         takes no more now (profile_room), or 0 */
} ProfileTotals;

typedef struct Profile Profile;

/* A state that tells a profile something; the caller's. */
typedef struct ProfileState {
  Profile *profile;     /* NULL: none */
  uint32_t id;          /* which no other state of the profile has had */
  size_t depth;         /* frames of the stack told last; 0 at first */
  int outside;          /* 1: what is told does not come from the thread that runs it */
} ProfileState;

/*
** Creates the file and starts the writer's thread (all signals blocked in
** it). On failure returns NULL and puts one line with path and reason into
** 'err'. errno is that of the failing call.
*/
Profile *profile_open (const ProfileConfig *config, char *err, size_t errsize);

/*
** The file that was opened, and why it is not that of the path: the phrase "is a
** profile already", or the like; or NULL. A flight recorder has none (device and inode 0).
*/
const char *profile_path (const Profile *p);
const char *profile_elsewhere (const Profile *p);
void profile_file (const Profile *p, struct stat *file);

/*
** Of a profile of many states: this one begins; has a name, of any bytes; ends, after
** so many bytes allocated while it was sampled, and 'lost' samples that are not in the
** profile. 'orphans': of the samples that it follows, all of native memory; their deaths are
** told later, as those of profile_collection are, by its id, of which nothing else is told any
** more. The dead leave that list at once.
*/
void profile_begin (ProfileState *s);
void profile_called (ProfileState *s, const char *name);
void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left, uint64_t lost,
                    uint64_t orphans);
void profile_orphans (ProfileState *s, uint64_t time, const uint32_t *runs, size_t n);

/*
** Emits a Lua function. 'name' and 'source' may hold any bytes; a source
** is what lua_Debug calls source or short_src ('@' or '=' before it go).
*/
void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source);

/*
** 'frames': the n <= PROFILE_NEWFRAMES inner frames that are new, innermost
** first; the 'shared' outer ones are as before (P5). Copied. May wait for the
** writer when two buffers of 2 MiB are full. In the file a stack deeper than
** PROFILE_DEPTH keeps its outer and its inner half, with a frame
** "[frames cut]" between them.
*/
void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n);

/*
** 0: there is no room on the file's disk at present, and no samples should be taken, for
** one that is not told needs no fate. What is told all the same is kept in memory until
** there is room again, but for samples of time, which are lost. So the profile has a gap,
** with a mark "samples lost" at its end.
*/
int profile_room (Profile *p);
/* As profile_room, for a sample of that count, which the mark counts if there is no room; the
   caller reports it as lost besides (profile_lost). */
int profile_offer (Profile *p, uint64_t count);

/*
** 1: a sample can be told from here without waiting for the writer: there is room for
** the deepest stack, and it is not this thread that is telling one (a signal's handler
** may ask that has interrupted it).
*/
int profile_ready (Profile *p);

/* So many samples more are not in the profile, whoever has lost them. */
void profile_lost (Profile *p, uint64_t n);

/* A sample of time; its stack as that of profile_sample. */
void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n);

/* Emits a class by its id, 1, 2, ... (P6). Any bytes. */
void profile_class (ProfileState *s, uint32_t id, const char *name);

/*
** A collection, and the fates of the n samples taken since the one before
** (oldest first; 0 died, 1 survived, 2 survived and is not followed), with
** their classes (0: none; NULL: no sample has one); then the deaths among the
** samples that are followed, as runs: so many are alive, so many are dead, and
** so on in turn; 'ndeaths' of them, even. What is behind them is alive.
*/
void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths);

/* Who holds what is followed: a path, which goes on from 'parent' (0: from nothing), and
   the path of each of n samples (0: none); and the walk that told it, ns. */
void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step);
void profile_holders (ProfileState *s, const uint32_t *ids, size_t n);
void profile_walk (ProfileState *s, uint64_t began, uint64_t duration);

/*
** A marker: something that the program wants to be seen in the profile. Any
** bytes; the value may be empty. 0: it is lost, for the profile has ended.
*/
int profile_mark (ProfileState *s, uint64_t time, const char *name,
                  size_t namelen, const char *value, size_t valuelen);

/* A row of where resident memory is (resident.h); those of one time are a picture. */
void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text);

/* A new time sampling period, in ns (0: off). */
void profile_timeperiod (ProfileState *s, uint64_t ns, int wall);

/* Bytes that were allocated while sampling was on, told before the end. */
void profile_allocated (ProfileState *s, uint64_t bytes);

void profile_left (ProfileState *s, const ProfileLeft *left);

/* A new period from here on (also ends up in the file). */
void profile_period (ProfileState *s, uint64_t period);

/*
** Writes what is left and the trailer, joins the thread, closes the file; events
** that come later, from whatever thread, are lost and do no harm. Fills 'totals'
** (may be NULL). Returns 0, or -1 when something was lost or a write failed.
*/
int profile_end (Profile *p, ProfileTotals *totals);

/*
** Of a flight recorder: writes what it keeps to 'to', or, if that is NULL, to the next
** number of the name that its end would have; waits until that is done, and the recorder
** goes on. 'isshort': memory has run out, so the reserve for this case is used. Of any
** other profile 'to' is NULL: what was told so far is in its file after this. 'path' gets
** the file's. 0: it could not be written; 'err' says why.
*/
int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize, char *err,
                  size_t errsize);
int profile_isring (const Profile *p);
/* ... The number of its next file (PlaceWish). */
unsigned profile_number (const Profile *p);

#define PROFILE_LASTRUNS	64

/* What is to be told of a state at the end; of one that has ended before, orphans' deaths
   alone, where 'nruns' is not 0. */
typedef struct ProfileLast {
  const ProfileState *state;
  size_t nruns;         /* as profile_orphans, at 'time' */
  uint32_t runs[PROFILE_LASTRUNS];
  uint64_t time;
  uint64_t bytes;       /* as profile_allocated; 0: nothing */
  ProfileLeft left;
  uint64_t lost;        /* as profile_lost */
} ProfileLast;

/*
** profile_end for exit(), which may have been called in a signal handler that has
** interrupted anything on this thread. Before that, tells what is left of each state: 'next'
** gives one at a time, and returns 0 behind the last. Always returns after a time: if the
** writer waits for a lock that the interrupted code has (malloc's, the loader's), what it
** has not written is lost, with the error EDEADLK. Frees nothing.
*/
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *totals);

/* The same, unless it was done, and frees 'p'. */
int profile_close (Profile *p, ProfileTotals *totals);

/* ProfileTotals.error in words: strerror's string, or a constant. */
const char *profile_message (int error);

/* Totals so far. */
void profile_totals (Profile *p, ProfileTotals *totals);

/*
** In the child of a fork, where nothing else may be called: frees 'p'
** without touching the parent's file and without the writer's thread, which
** the child does not have. What the writer had allocated stays allocated.
*/
void profile_abandon (Profile *p);

#endif
