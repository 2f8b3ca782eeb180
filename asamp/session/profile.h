/* SPDX-License-Identifier: MIT */
/*
** The profile: the stream of events that a run leaves in a file.
**
** The program's thread passes events (profile_sample and others: a copy into a buffer under a
** short lock, without I/O, compression or Lua allocations). A writer thread of the profile
** encodes them as a VMProf log, compresses and writes them, and flushes at least once a second,
** so that a killed run loses at most its last second, unless the disk was full. A flight recorder
** (ring.h) keeps its events in memory: a killed run loses them.
**
** There are two encodings of the stream: PROFILE_STOCK (VMProf version 6, readable by today's
** VMProf tools; data for which version 6 has no record goes into numbered private metas) and
** PROFILE_EXTENDED (version 7 with GC stacks and object info, as the readers of the allocation
** sampling paper require).
**
** Rules for every stream:
**
**   P1  a function is emitted before the first sample that contains it;
**   P2  samples are in the order in which they were taken;
**   P3  a collection decides the survival of all allocation samples before it, in order;
**       undecided samples are counted in the meta "asamp.undecided". Time samples and copy
**       samples have no outcome;
**   P4  no sample is lost silently: one without space or in a failed write is counted in
**       ProfileTotals, except after the end of the profile;
**   P5  a stack is passed as its difference to the previous stack of the same state, whatever the
**       sort of the two samples: 'shared' is the number of outermost frames that are equal in both
**       stacks, lines included; 0 is always valid. So the cost is proportional to the change. The
**       writer thread reconstructs the stacks;
**   P6  a class is emitted before the first outcome that names it, once, with ids 1, 2, ... in
**       that order;
**   P7  samples that survived are followed, except those with outcome 2 (profile_collection). The
**       list of followed samples is in the order of the outcomes; a death removes a sample;
**   P8  the rules hold for each state separately: a profile of many states has one stream for each
**       state. One thread at a time may report to a stream. Other threads may report events other
**       than samples, with 'outside' set, at the same time.
**
** No function here is async-signal-safe, except profile_exit and, in part, profile_ready.
** Independent of Lua.
*/
#ifndef asamp_profile_h
#define asamp_profile_h

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "encoder.h"
#include "ring.h"
#include "sample.h"

/*
** Limits of one event: new frames of a stack; bytes of a name and of a value. A longer name or
** value is truncated.
*/
enum { PROFILE_NEWFRAMES = 65536, PROFILE_NAME = 255, PROFILE_VALUE = 4095 };

/* Options of a profile. */
typedef struct ProfileConfig {
  /* 'path', 'number', 'made', 'replace', 'taken' and 'folder' are as in PlaceWish (place.h). */
  const char *path;
  unsigned number;
  int made;
  int replace;
  int (*taken)(const struct stat *file);
  int folder;
  int compress;         /* 1: gzip, 0: uncompressed */
  EncoderConfig log;    /* Options of the log. profile_open sets 'pid', 'tuning' and
			   'recorder'. With 'states', each state calls profile_start. */
  /* Called on the writer thread, with no lock held, at the first stall (profile_room); and at its
     end, with error 0 and the number of samples lost meanwhile. Not called for later stalls. NULL:
     no call. */
  void (*stalled)(const char *path, int error, uint64_t lost);
  /* Called on the writer thread after every buffer, and from time to time. If it returns 1 (it had
     work to do), it is called again soon. NULL: no call. */
  int (*round)(void);
  /* 'most' not 0: a flight recorder (ring.h), whose file is made only by profile_dump, and at
     the end. */
  RingLimits ring;
} ProfileConfig;

/* Totals of a profile so far. */
typedef struct ProfileTotals {
  uint64_t samples;   /* allocation samples that were passed to the profile and not lost, in
		         periods */
  uint64_t timesamples;  /* likewise, time samples */
  uint64_t lost;      /* samples of both kinds for which there was no space, or which could not be
		         written, in periods */
  uint64_t all;       /* 'lost' plus the samples reported with profile_lost */
  uint64_t bytes;     /* bytes of the file; of a flight recorder before its end: of its
		         compressed events */
  int error;          /* errno of the first failure; else of the present stall (profile_room);
		         0: none */
} ProfileTotals;

typedef struct Profile Profile;

/* A state that reports to a profile. Memory of the caller. */
typedef struct ProfileState {
  Profile *profile;     /* NULL: none */
  uint32_t id;          /* unique among the states of the profile */
  size_t depth;         /* frames of the stack reported last; 0 at first */
  int outside;          /* 1: reports come from another thread than the one that runs the state */
} ProfileState;

/*
** Opens the file, unless the profile is a flight recorder, and starts the writer thread, in which
** all signals are blocked. On failure returns NULL, sets errno, and writes one line with path and
** reason to 'err'.
*/
Profile *profile_open (const ProfileConfig *config, char *err, size_t errsize);

/* Returns the path of the opened file; of a flight recorder before its end, the requested path. */
const char *profile_path (const Profile *p);
/*
** Returns a phrase that states why a file was passed over in favour of profile_path, such as "is an
** existing profile"; NULL: none was.
*/
const char *profile_elsewhere (const Profile *p);
/* Stores device and inode of the opened file; 0 for a flight recorder, which has no file. */
void profile_file (const Profile *p, struct stat *file);

/* For a profile of many states: emits the start of a state. */
void profile_start (ProfileState *s);
/* For a profile of many states: emits the name of a state, which may contain any bytes. */
void profile_called (ProfileState *s, const char *name);
/*
** For a profile of many states: emits the end of a state. 'bytes': bytes that it allocated while it
** was sampled; 'left': as in profile_left; 'lost': as in profile_lost; 'orphans': number of its
** followed samples of native memory, whose deaths profile_orphans emits later. The state's other
** followed samples leave the list at once.
*/
void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left, uint64_t lost,
                    uint64_t orphans);
/* Emits deaths of the orphans of the ended state s->id, as n run lengths (profile_collection). */
void profile_orphans (ProfileState *s, uint64_t time, const uint32_t *runs, size_t n);

/*
** Emits a Lua function. 'name' and 'source' may contain any bytes; 'source' is a source or
** short_src of lua_Debug, without a leading '@' or '='.
*/
void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source);

/*
** Emits an allocation sample or copy sample. 'frames' are the n <= PROFILE_NEWFRAMES inner frames
** that are new, innermost first; the 'shared' outer ones are unchanged (P5). Copies 'frames'. Waits
** for the writer if two buffers of 2 MiB are full. In the file, a stack deeper than PROFILE_DEPTH
** is cut to this depth, with a frame "[frames cut]" in the middle.
*/
void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n);

/*
** Returns 0 during a stall: the last write has failed, as on a full disk, and will be tried again
** (W6 of livefile.h). The caller should take no samples then: a sample that is not reported needs
** no outcome. Reported events are kept in memory, except time samples, which are lost. So the
** profile has a gap, with a mark "samples lost" at the gap's end.
*/
int profile_room (Profile *p);
/*
** As profile_room, for a sample of 'count' periods. If it returns 0, the mark counts the
** sample; the caller must report it with profile_lost as well.
*/
int profile_offer (Profile *p, uint64_t count);

/*
** Returns 1 if a sample can be reported, probably without waiting for the writer: half of the
** active buffer is free, the file has not failed or stalled, the profile has not ended, and this
** thread is not inside a report. May be called by a signal handler that interrupted a report.
*/
int profile_ready (Profile *p);

/* Counts n samples, in periods, that were lost before they could be passed to the profile. */
void profile_lost (Profile *p, uint64_t n);

/* Emits a time sample; stack as in profile_sample. Loses it during a stall (profile_room). */
void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n);

/* Emits a class with its id, 1, 2, ... (P6). The name may contain any bytes. */
void profile_class (ProfileState *s, uint32_t id, const char *name);

/*
** Emits a collection, with the outcomes of the n oldest undecided samples (oldest first; 0 died,
** 1 survived, 2 survived and is not followed) and their classes (0: none; NULL: no sample has
** one); and the deaths among the followed samples as 'ndeaths' run lengths: a number of live
** samples, a number of dead ones, and so on. 'ndeaths' is even; samples after the last run are
** alive.
*/
void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths);

/* Emits a path of holders: the path 'parent' (0: the empty path) extended by 'step'. */
void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step);
/* Emits the holders of the n followed samples: the path of each sample (0: none). */
void profile_holders (ProfileState *s, const uint32_t *ids, size_t n);
/* Emits a walk for holders: its start and duration, in ns. */
void profile_walk (ProfileState *s, uint64_t start, uint64_t duration);

/*
** Emits a marker of the program. Name and value may contain any bytes; the value may be empty.
** Returns 0 if the profile has ended or failed.
*/
int profile_mark (ProfileState *s, uint64_t time, const char *name,
                  size_t namelen, const char *value, size_t valuelen);

/* Emits a row of resident memory (resident.h); rows of one time form a picture. */
void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text);

/* Emits a new period of time samples in ns (0: off); 'wall' 1: of wall time, 0: of CPU time. */
void profile_timeperiod (ProfileState *s, uint64_t ns, int wall);

/* Emits the bytes that the state allocated while sampled. To be called before profile_end. */
void profile_allocated (ProfileState *s, uint64_t bytes);

/*
** Emits the bytes allocated with a label set: a part of the bytes that the state's next
** profile_allocated or profile_leave emits.
*/
void profile_labelled (ProfileState *s, uint32_t set, uint64_t bytes);

/* Emits the counts of data that limits dropped for the state. */
void profile_left (ProfileState *s, const ProfileLeft *left);

/* Emits a new period of the state's allocation samples, in bytes. */
void profile_period (ProfileState *s, uint64_t period);

/*
** Writes the remaining events and the trailer, joins the thread and closes the file; only once, and
** not in the child of a fork. Later events, from any thread, are lost without harm. Fills 'totals'
** unless that is NULL. Returns 0, or -1 if ProfileTotals.lost or 'error' is not 0.
*/
int profile_end (Profile *p, ProfileTotals *totals);

/*
** For a flight recorder: writes its content to the file 'to' (NULL: to the next number of its own
** name), waits until that is done, and continues recording. For any other profile, 'to' must be
** NULL: flushes all events so far to the file. 'isshort' 1: memory is exhausted, so the reserve for
** this case is used. Stores the path of the file in 'path'. Returns 0 with the reason in 'err' on
** failure.
*/
int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize, char *err,
                  size_t errsize);
int profile_isring (const Profile *p);
/* For a flight recorder: returns the number of its next file (PlaceWish). */
unsigned profile_number (const Profile *p);

#define PROFILE_LASTRUNS	64	/* most runs in one ProfileLast */

typedef struct ProfileLast ProfileLast;

/* Calls f for the bytes of each label set of a state. Returns the sum of the bytes. */
typedef uint64_t ProfileSets (const ProfileLast *last,
                              void (*f) (void *ud, uint32_t set, uint64_t bytes),
                              void *ud);

/*
** Final data of a state at exit. If 'nruns' is above 0, the state has ended earlier, and only the
** deaths of its orphans are emitted.
*/
struct ProfileLast {
  const ProfileState *state;
  size_t nruns;         /* as in profile_orphans, at 'time' */
  uint32_t runs[PROFILE_LASTRUNS];
  uint64_t time;
  uint64_t bytes;       /* as in profile_allocated; 0: not emitted */
  ProfileSets *sets;    /* the bytes by label set; their sum may exceed 'bytes'; NULL: none */
  void *setsud;
  ProfileLeft left;
  uint64_t lost;        /* as in profile_lost */
};

/*
** Like profile_end, for exit(), which a signal handler may have called, whatever code of this
** thread it interrupted. First emits the final data of each state: 'next' stores those of one
** state in *last, and returns 0 after the last state. If the writer waits for a lock held by the
** interrupted code (of malloc or the loader), returns after about 3 s; unwritten events are lost,
** with the error EDEADLK. Waits without limit for a file that takes no bytes (a pipe). Frees
** nothing.
*/
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *totals);

/* Calls profile_end, frees 'p', and returns the result of profile_end. */
int profile_close (Profile *p, ProfileTotals *totals);

/* Returns the text of ProfileTotals.error: from strerror, or a constant. */
const char *profile_message (int error);

/* Returns the totals so far. */
void profile_totals (Profile *p, ProfileTotals *totals);

/*
** In the child of a fork, where of all functions only this one or profile_close may be called:
** frees 'p', and closes the child's descriptor of the file. The child does not have the writer
** thread; the memory of the encoder and of a flight recorder is not freed.
*/
void profile_abandon (Profile *p);

#endif
