/* SPDX-License-Identifier: MIT */
/*
** The profile: the stream of events that a run leaves in a file.
**
** The program's thread passes events to the profile (profile_sample and others). That takes a copy
** into a buffer under a short lock, without I/O, compression or Lua allocations. A writer thread
** of the profile encodes the events as a VMProf log, compresses and writes them. It flushes the
** file at least once a second, so that a killed run loses at most its last second, unless the disk
** was full. A flight recorder (ring.h) keeps its events in memory, so a killed run loses them.
**
** There are two encodings of the stream. PROFILE_STOCK is VMProf version 6, which today's VMProf
** tools can read; data for which that version has no record goes into numbered private metas.
** PROFILE_EXTENDED is version 7 with GC stacks and object info, as the readers of the allocation
** sampling paper require.
**
** Rules for every stream:
**
**   P1  a function is emitted before the first sample that contains it;
**   P2  samples are in the order in which they were taken;
**   P3  a collection decides the survival of all allocation samples before it, in the order of the
**       samples. Samples that no collection has decided are counted in the meta "asamp.undecided".
**       Time samples and copy samples have no outcome;
**   P4  no sample is lost silently. A sample for which there is no space or whose write fails is
**       counted in ProfileTotals. Exception: samples after the end of the profile;
**   P5  a stack is passed as its difference to the previous stack of the same state, whatever the
**       kinds of the two samples. 'shared' is the number of outermost frames that are equal in
**       both stacks, lines included; 0 is always valid. So the cost is proportional to the change.
**       The writer thread reconstructs the stacks;
**   P6  a class is emitted once, before the first outcome that refers to it. The ids of classes
**       are 1, 2, ... in the order of emission;
**   P7  samples that survived are followed, except those with outcome 2 (profile_collection). The
**       list of followed samples is in the order of the outcomes. The death of a sample removes it
**       from the list;
**   P8  a profile of many states has one stream for each state, and the rules hold for each stream
**       separately. One thread at a time may report to a stream. At the same time, other threads
**       may report events other than samples, with 'outside' set.
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
** Limits of one event. PROFILE_NEWFRAMES: new frames of a stack; PROFILE_NAME and PROFILE_VALUE:
** bytes of a name and of a value. A longer name or value is truncated.
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
  /* Called at the start and the end of the file's first stall (profile_room) only. At the end,
     'error' is 0 and 'lost' is the number of samples lost in the stall. Runs on the writer thread
     with no lock held. NULL: no call. */
  void (*stalled)(const char *path, int error, uint64_t lost);
  /* Function for regular work. Called on the writer thread after every buffer, and from time to
     time. Returns 1 if it had work to do; then it is called again soon. NULL: no call. */
  int (*round)(void);
  /* If 'most' is not 0, the profile is a flight recorder (ring.h). Its files are made only by
     profile_dump and at the end. */
  RingLimits ring;
} ProfileConfig;

/* Totals of a profile so far. */
typedef struct ProfileTotals {
  uint64_t samples;   /* number of sampling periods of the allocation samples that were passed to
		         the profile and not lost (a sample may represent several periods) */
  uint64_t timesamples;  /* number of sampling periods of the time samples that were passed to the
			    profile and not lost */
  uint64_t lost;      /* number of sampling periods of the samples of both kinds for which there was
		         no space, or which could not be written */
  uint64_t all;       /* 'lost' plus the number of sampling periods reported with profile_lost */
  uint64_t bytes;     /* bytes of the file; for a flight recorder before its end, bytes of its
		         compressed events */
  int error;          /* errno of the first failure, or else of the present stall (profile_room);
		         0: none */
} ProfileTotals;

typedef struct Profile Profile;

/* A state that reports to a profile. The caller provides the memory. */
typedef struct ProfileState {
  Profile *profile;     /* NULL: none */
  uint32_t id;          /* unique among the states of the profile */
  size_t depth;         /* number of frames of the stack reported last; 0 at first */
  int outside;          /* 1: reports come from another thread than the one that runs the state */
} ProfileState;

/*
** Opens a profile and its file, and starts the writer thread, in which all signals are blocked.
** For a flight recorder, opens no file. On failure returns NULL, sets errno, and writes one line
** with path and reason to 'err'.
*/
Profile *profile_open (const ProfileConfig *config, char *err, size_t errsize);

/* Returns the path of the opened file; for a flight recorder before its end, the requested
   path. */
const char *profile_path (const Profile *p);
/*
** Returns a phrase, such as "is an existing profile", that states why the requested file was not
** used and profile_path is another one. NULL: the requested file was used.
*/
const char *profile_elsewhere (const Profile *p);
/* Stores the device and inode of the opened file; both are 0 for a flight recorder, which has no
   open file. */
void profile_file (const Profile *p, struct stat *file);

/* For a profile of many states: emits the start of a state. */
void profile_start (ProfileState *s);
/* For a profile of many states: emits the name of a state, which may contain any bytes. */
void profile_called (ProfileState *s, const char *name);
/*
** For a profile of many states: emits the end of a state. 'bytes' are the bytes that it allocated
** while it was sampled; 'left' and 'lost' are as for profile_left and profile_lost. 'orphans' is
** the number of its samples of native memory that are still alive; profile_orphans emits their
** deaths later. All its other samples are removed from the list of P7 without a death: their memory
** was freed with the state.
*/
void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left, uint64_t lost,
                    uint64_t orphans);
/* Emits deaths among the orphans of the ended state s->id (samples of native memory that were alive
   when the state ended), as n run lengths like those of profile_collection. */
void profile_orphans (ProfileState *s, uint64_t time, const uint32_t *runs, size_t n);

/*
** Emits a Lua function. 'name' and 'source' may contain any bytes. 'source' is the source or
** short_src of lua_Debug without a leading '@' or '='.
*/
void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source);

/*
** Emits an allocation sample or a sample of copied bytes. 'frames' are the n new inner frames,
** innermost first (n <= PROFILE_NEWFRAMES); they are copied. The 'shared' outermost frames of the
** previous stack are unchanged. Waits for the writer if both buffers of 2 MiB are full. In the
** file, a stack deeper than PROFILE_DEPTH is cut to that depth, with a frame "[frames cut]" in the
** middle.
*/
void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n);

/*
** Returns 0 during a stall, else 1. In a stall the last write has failed, for example because the
** disk is full, and is tried again later (W6 of livefile.h). The caller should take no samples
** then; a sample that is not reported needs no outcome. Other events are kept in memory, except
** time samples, which are lost. The profile has a gap, with a mark "samples lost" at its end.
*/
int profile_room (Profile *p);
/*
** Returns 0 during a stall, else 1, like profile_room, for a sample of 'count' periods. If it
** returns 0, the mark "samples lost" will count the sample, and the caller must also report it with
** profile_lost.
*/
int profile_offer (Profile *p, uint64_t count);

/* Returns 1 if a sample can be reported, probably without waiting for the writer: half of the
   active buffer is free, the file has not failed or stalled, the profile has not ended, and this
   thread is not inside a report. May be called by a signal handler that interrupted a report. */
int profile_ready (Profile *p);

/* Counts samples that were lost before they could be passed to the profile. n is their number; a
   sample of several periods counts once for each period. */
void profile_lost (Profile *p, uint64_t n);

/* Emits a time sample. The stack is passed as in profile_sample. During a stall (profile_room),
   the sample is lost. */
void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n);

/* Emits a class with its id; ids are 1, 2, ... in the order of emission. The name may contain any
   bytes. */
void profile_class (ProfileState *s, uint32_t id, const char *name);

/*
** Emits a collection.
**   - 'survived' has the outcomes of the n oldest samples without one, oldest first: 0 died, 1
**     survived, 2 survived, but its death will not be emitted
**   - 'classes' has the classes of these samples (0: none); NULL: no sample has one
**   - 'deaths' has the deaths among the followed samples (P7) as 'ndeaths' run lengths (even): a
**     number of live samples, a number of dead ones, and so on. The samples after the last run are
**     alive
*/
void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths);

/* Emits a path of holders (references that keep an object alive): the path 'parent' (0: the empty
   path) extended by 'step'. */
void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step);
/* Emits the paths of references that keep the n followed samples alive. A sample is followed if it
   has survived a collection and is not known to be dead. 'ids' has the number of the path to each
   sample (0: none). */
void profile_holders (ProfileState *s, const uint32_t *ids, size_t n);
/* Emits the time for which a search for holders has stopped the program: its start
   (CLOCK_MONOTONIC) and its duration, in ns. */
void profile_walk (ProfileState *s, uint64_t start, uint64_t duration);

/*
** Emits a marker of the program. Name and value may contain any bytes; the value may be empty.
** Returns 0 if the profile has ended or failed.
*/
int profile_mark (ProfileState *s, uint64_t time, const char *name,
                  size_t namelen, const char *value, size_t valuelen);

/* Emits a row of resident memory (resident.h). All rows with the same time form a snapshot. */
void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text);

/* Emits a new period of time samples in ns (0: off); 'wall' 1: of wall time, 0: of CPU time. */
void profile_timeperiod (ProfileState *s, uint64_t ns, int wall);

/* Emits the number of bytes that the state allocated while allocations were sampled. Call it before
   profile_end. */
void profile_allocated (ProfileState *s, uint64_t bytes);

/*
** Emits the number of bytes that the state allocated while it had the set of labels 'set' (not 0).
** The next profile_allocated or profile_leave of the state includes these bytes in its total.
*/
void profile_labelled (ProfileState *s, uint32_t set, uint64_t bytes);

/* Emits the counts of data of the state that were dropped because of limits, by limit. */
void profile_left (ProfileState *s, const ProfileLeft *left);

/* Emits a new period of the state's allocation samples, in bytes. */
void profile_period (ProfileState *s, uint64_t period);

/* Writes the remaining events and the trailer, joins the writer thread and closes the file. Call it
   once, and not in the child of a fork. Later events, from any thread, are lost without harm. Fills
   *totals unless it is NULL. Returns 0, or -1 if ProfileTotals.lost or 'error' is not 0. */
int profile_end (Profile *p, ProfileTotals *totals);

/*
** Flushes all events so far to the file; 'to' must be NULL. For a flight recorder instead writes
** its content to the file 'to' (NULL: to its own path with the next number), waits until that is
** done, and continues recording. 'isshort' is 1 if memory is exhausted; then the memory reserved
** for this case is used. Stores the path of the file in 'path'. Returns 0 with the reason in 'err'
** on failure.
*/
int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize, char *err,
                  size_t errsize);
int profile_isring (const Profile *p);
/* For a flight recorder: returns the number that its next file will have in its name. */
unsigned profile_number (const Profile *p);

#define PROFILE_LASTRUNS	64	/* largest number of runs in one ProfileLast */

typedef struct ProfileLast ProfileLast;

/* Calls f for the bytes of each label set of a state. Returns the sum of the bytes. */
typedef uint64_t ProfileSets (const ProfileLast *last,
                              void (*f) (void *ud, uint32_t set, uint64_t bytes),
                              void *ud);

/*
** The final data of a state at exit. If 'nruns' is above 0, the state ended earlier, and only
** deaths of its orphans (samples of native memory that outlive their state) are emitted.
*/
struct ProfileLast {
  const ProfileState *state;
  size_t nruns;         /* number of elements of 'runs'; above 0: 'runs' and 'time' are those of
			   profile_orphans, and the fields after 'time' are not used */
  uint32_t runs[PROFILE_LASTRUNS];
  uint64_t time;
  uint64_t bytes;       /* allocated bytes of the state, as for profile_allocated; 0: no such event
			   is emitted */
  ProfileSets *sets;    /* the bytes by label set; their sum may exceed 'bytes'; NULL: none */
  void *setsud;
  ProfileLeft left;
  uint64_t lost;        /* number of sampling periods lost before their samples reached the
			   profile */
};

/*
** Like profile_end, but called at exit(), perhaps in a signal handler that interrupted any code of
** this thread. Frees nothing. First emits the final data of each state: 'next' stores those of one
** state in *last, and returns 0 after the last state.
**
** If the writer waits for a lock that the interrupted code holds (of malloc or the loader), returns
** after about 3 s; unwritten events are lost, with the error EDEADLK. Waits up to 5 s for a pipe
** that accepts no bytes (W8 of livefile.h).
*/
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *totals);

/* Calls profile_end, frees 'p', and returns the result of profile_end. */
int profile_close (Profile *p, ProfileTotals *totals);

/* Returns the text of ProfileTotals.error: from strerror, or a constant. */
const char *profile_message (int error);

/* Returns the totals so far. */
void profile_totals (Profile *p, ProfileTotals *totals);

/* Frees 'p' in the child of a fork, and closes the child's descriptor of the file. In the child, no
   function except this one and profile_close may be called. Does not free the memory of the encoder
   and of a flight recorder, which the parent's writer thread may have been changing at the fork. */
void profile_abandon (Profile *p);

#endif
