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
**   P1  a function is announced before the first sample that shows it;
**   P2  samples are in the order in which they were taken;
**   P3  a collection decides the fate of every allocation sample before it, in
**       order; what no collection decided is counted in the meta
**       "asamp.undecided". Time samples have no fate;
**   P4  nothing is lost in silence: an event that finds no room or a write
**       that fails is counted and told by profile_close;
**   P5  a stack is told as what is new in it: 'kept' is how many of its
**       outermost frames, lines included, are those of the stack told before
**       it to the same profile, by a sample of either sort. Telling costs what
**       changed; the writer's thread puts stacks together. 0 is always right;
**   P6  a class is announced before the first fate that names it, with ids 1,
**       2, ... in that order, once each;
**   P7  samples that survived are followed, in the order of their fates, but
**       for those whose fate is 2. A death takes a sample out of that list.
** No function here may be called from a signal handler, but profile_exit.
** This file knows no Lua.
*/
#ifndef asamp_profile_h
#define asamp_profile_h

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { PROFILE_STOCK = 6, PROFILE_EXTENDED = 7 };

/* What was allocated. The order is the type id of the extended format. */
enum ProfileKind {
  KIND_TABLE, KIND_TABLE_ARRAY, KIND_TABLE_HASH, KIND_STRING,
  KIND_LUA_CLOSURE, KIND_C_CLOSURE, KIND_UPVALUE, KIND_USERDATA,
  KIND_COROUTINE, KIND_STACK, KIND_PROTO, KIND_BUFFER,
  KIND_OUTSIDE,	/* what a userdata stands for (luaN_outside of seam.h) */
  KIND_COUNT
};

/* "table", "table array part", ... ; kind < KIND_COUNT. */
const char *profile_kindname(int kind);

/*
** Frames of a sample that are kept, about as many as VMProf itself keeps; and
** the id of a frame that stands for those left out.
*/
enum { PROFILE_DEPTH = 1024, PROFILE_CUT = 63 };

/*
** Leaf frames of time samples that were taken within a collection; their line
** is 0. A slice of a major collection is major.
*/
enum { PROFILE_MINORFRAME = 57, PROFILE_MAJORFRAME = 59 };

/* Limits of one event: new frames of a stack, bytes of texts (cut there). */
enum { PROFILE_NEWFRAMES = 65536, PROFILE_NAME = 255, PROFILE_VALUE = 4095 };

/*
** One frame. Functions written in Lua have ids 8, 16, 24, ... and a line >= 0
** (0: unknown). Native frames have the odd id (address | 1) and line 0.
*/
typedef struct ProfileFrame {
  uint64_t id;
  uint32_t line;
} ProfileFrame;

typedef struct ProfileSample {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t size;     /* bytes of the allocated block, rounded as the heap does */
  uint64_t count;    /* sampling points that the block crossed, >= 1; each
                        stands for one period of bytes */
  uint64_t thread;   /* number of the OS thread or state; the first is 0 */
  int kind;          /* enum ProfileKind */
  int outside;       /* 1: allocated outside the nursery (large) */
} ProfileSample;

typedef struct ProfileTime {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t count;    /* periods it stands for, >= 1 (timer overruns) */
  uint64_t thread;   /* as in ProfileSample */
} ProfileTime;

/*
** State after one collection, in bytes unless said otherwise. Collections that
** follow each other at short intervals and decide nothing may be left out: the
** next one counts them.
*/
typedef struct ProfileCollection {
  uint64_t time;      /* CLOCK_MONOTONIC, ns, at the collection's end */
  uint64_t inuse;     /* bytes in live or not yet swept objects */
  uint64_t held;      /* bytes obtained from lua_Alloc */
  uint64_t rss;       /* resident set size of the process */
  int major;          /* 0 minor, 1 major */
  uint64_t minors, majors;  /* left out since the collection before */
  uint64_t duration;  /* of the pause, ns */
  uint64_t tenured;   /* bytes that survived their first collection, since the
                         collection before */
  int state;          /* of the major collection after this: 0 none, 1 marking,
                         2 sweeping, 3 finalizing or its atomic phase just
                         done */
} ProfileCollection;

typedef struct ProfileConfig {
  const char *path;     /* of the file: what place.h makes of it with ... */
  unsigned number;      /* ... these four, named as there */
  int made;
  int replace;
  int (*taken)(const struct stat *file);
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  int compress;         /* 1: gzip, 0: plain */
  uint64_t period;      /* bytes a sample stands for */
  int random;           /* 1: exponential gaps of that mean */
  uint64_t timeperiod;  /* ns of time that a time sample stands for, 0: none
                           are taken when the profile begins */
  int wall;             /* 1: of wall time, 0: of CPU time */
  int native;           /* 1: native frames are recorded */
  uint64_t followed;    /* deaths are told, of at most so many samples at a
                           time; 0: none are */
  const char *command;  /* what ran, for people; may be NULL */
  uint64_t pid;         /* of the process; profile_open sets it. 0: unknown */
  /*
  ** Name of a native address (a frame's id without its lowest bit), called
  ** on the writer's thread only, once per address. Writes symbol and object
  ** file (both NUL-terminated; "" when unknown). NULL: native frames stay
  ** unnamed.
  */
  void (*resolve)(void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);
  void *resolve_ud;
  /*
  ** Called on the writer's thread, without a lock of the profile's, when the file
  ** takes no more for the first time, and is waited for. NULL: nobody wants to know.
  */
  void (*stalled)(const char *path, int error);
} ProfileConfig;

typedef struct ProfileTotals {
  uint64_t samples;   /* allocation samples written (counts added up) */
  uint64_t timesamples;  /* time samples, likewise */
  uint64_t lost;      /* samples that found no room or could not be written */
  uint64_t bytes;     /* size of the file */
  int error;          /* errno of the first write that failed, or of why the file
                         takes no more now (profile_room), or 0 */
} ProfileTotals;

typedef struct Profile Profile;

/*
** Creates the file and starts the writer's thread (all signals blocked in
** it). On failure returns NULL and puts one line with path and reason into
** 'err'. errno is that of the failing call.
*/
Profile *profile_open (const ProfileConfig *config, char *err, size_t errsize);

/*
** The file that was opened, and why it is not that of the path: the phrase "is a
** profile already", or the like; or NULL.
*/
const char *profile_path (const Profile *p);
const char *profile_elsewhere (const Profile *p);
void profile_file (const Profile *p, struct stat *file);

/*
** Announces a Lua function. 'name' and 'source' may hold any bytes; a source
** is what lua_Debug calls source or short_src ('@' or '=' before it go).
*/
void profile_function (Profile *p, uint64_t id, const char *name,
                       int linedefined, const char *source);

/*
** 'frames': the n <= PROFILE_NEWFRAMES inner frames that are new, innermost
** first; the 'kept' outer ones are as before (P5). Copied. May wait for the
** writer when two buffers of 2 MiB are full. In the file a stack deeper than
** PROFILE_DEPTH keeps its outer and its inner half, with a frame
** "[frames cut]" between them.
*/
void profile_sample (Profile *p, const ProfileSample *s, size_t kept,
                     const ProfileFrame *frames, size_t n);

/*
** 0: the file takes no more at present, since there is no room on its disk, and
** samples should not be taken: one that is not told needs no fate. What is told is
** kept in memory, to be written when there is room again; samples of time are lost.
** So a profile goes on, with a gap, and a mark "samples lost" where it ends.
*/
int profile_room (Profile *p);

/* Of all samples so many are not in the profile, whoever has lost them. */
void profile_lost (Profile *p, uint64_t n);

/* A sample of time; its stack as that of profile_sample. */
void profile_time (Profile *p, const ProfileTime *s, size_t kept,
                   const ProfileFrame *frames, size_t n);

/* Announces a class by its id, 1, 2, ... (P6). Any bytes. */
void profile_class (Profile *p, uint32_t id, const char *name);

/*
** A collection, and the fates of the n samples taken since the one before
** (oldest first; 0 died, 1 survived, 2 survived and is not followed), with
** their classes (0: none; NULL: no sample has one); then the deaths among the
** samples that are followed, as runs: so many are alive, so many are dead, and
** so on in turn; 'ndeaths' of them, even. What is behind them is alive.
*/
void profile_collection (Profile *p, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths);

/*
** A marker: something that the program wants to be seen in the profile. Any
** bytes; the value may be empty.
*/
void profile_mark (Profile *p, uint64_t time, const char *name,
                   size_t namelen, const char *value, size_t valuelen);

/* A new time sampling period, in ns (0: off). */
void profile_timeperiod (Profile *p, uint64_t ns, int wall);

/* Bytes that were allocated while sampling was on, told before the end. */
void profile_allocated (Profile *p, uint64_t bytes);

/* What limits of the sampler have left out, told before the end (readerleft.h). */
typedef struct ProfileLeft {
  uint64_t chunks, functions, classes;
} ProfileLeft;

void profile_left (Profile *p, const ProfileLeft *left);

/* A new period from here on (also ends up in the file). */
void profile_period (Profile *p, uint64_t period);

/*
** Writes what is left and the trailer, joins the thread, closes the file; events
** that come later, from whatever thread, are lost and do no harm. Fills 'totals'
** (may be NULL). Returns 0, or -1 when something was lost or a write failed.
*/
int profile_end (Profile *p, ProfileTotals *totals);

/*
** At exit(), which may have been called in a signal handler that has interrupted
** anything, on this thread: tells what is left (profile_allocated, profile_left) and
** has the file end, as profile_end. Returns after a time in any case: where the writer
** waits for a lock that the interrupted code has (malloc's, the loader's), what it has
** not written is lost, with the error EDEADLK. Frees nothing.
*/
void profile_exit (Profile *p, uint64_t bytes, const ProfileLeft *left,
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
