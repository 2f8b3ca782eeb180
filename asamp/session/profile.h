/* SPDX-License-Identifier: MIT */
/*
** The profile: the stream of events that a run leaves in a file. Reporting an event only copies it
** to a buffer. A writer thread encodes, compresses and writes events at least once a second; a
** flight recorder (ring.h) keeps them in memory. Only profile_exit is async-signal-safe.
**
**   P1  a function is emitted before the first sample that contains it;
**   P2  samples are in the order in which they were taken;
**   P3  each collection reports the outcome, that is, the survival or death, of all undecided
**       allocation samples, in the order of the samples. Time samples and copy samples (bytes
**       copied into a new string, or moved because a table or buffer grew) have no outcome;
**   P4  no sample is lost silently: losses before the end are counted in ProfileTotals;
**   P5  a stack is passed as its difference to the state's previous stack: the number of equal
**       outermost frames ('shared', lines included), and the other frames. A caller may always pass
**       'shared' 0 and the whole stack;
**   P6  a class is emitted before the first outcome that refers to it. The ids of classes are 1, 2,
**       ..., in the order of emission;
**   P7  the list of survivors contains each sample that has survived its first collection (outcome
**       1) and has not died later. The samples are in the order of their outcomes;
**   P8  in a profile of many states, each state has its own stream of events. The thread that runs
**       the state reports its samples. Another thread may report other events of the state; it sets
**       ProfileState.outside to 1.
*/
#ifndef asamp_profile_h
#define asamp_profile_h

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "encoder.h"
#include "event.h"
#include "ring.h"
#include "sample.h"

/* PROFILE_NEWFRAMES: largest number of new frames in an event, that is, frames that the previous
   stack does not have (P5). PROFILE_NAME, PROFILE_VALUE: bytes to which a name and a value are
   truncated. */
enum { PROFILE_NEWFRAMES = 65536, PROFILE_NAME = 255, PROFILE_VALUE = 4095 };

/* Options of a profile. */
typedef struct ProfileConfig {
  const char *path;
  unsigned number;      /* number in the first file name tried, as in app.2.vmprof; 0 or 1: the name
                           has none */
  int made;             /* 1: 'path' is a generated name, not one that the user chose */
  /* Which existing files may be replaced: PLACE_NONE, PLACE_PROFILES or PLACE_ALL. */
  int replace;
  /* Returns 1 if this process already writes the file with the device and inode of *file. NULL:
     this process writes no other profile. */
  int (*taken)(const struct stat *file);
  int folder;           /* open descriptor of the folder of 'path'; 0: the folder is opened by its
                           path */
  int compress;         /* 1: gzip, 0: uncompressed */
  /* Options of the log, which is the file's content without gzip (encoder.h). profile_open sets
     'pid', 'tuning' and 'recorder' in its copy. */
  EncoderConfig log;
  /* Called on the writer thread at the start and at the end of the first stall. In a stall, writes
     fail and are tried again (profile_room). At the start, 'error' is the errno of the failed
     write. At the end, 'error' is 0, and 'lost' is the number of samples lost in the stall. NULL:
     not called. */
  void (*stalled)(const char *path, int error, uint64_t lost);
  /* Called on the writer thread after each buffer of events, and at least about once a second.
     Returns 1 if it had work to do. NULL: not called. */
  int (*round)(void);
  /* ring.most > 0: a flight recorder, which writes files only in profile_dump and at the end. */
  RingLimits ring;
} ProfileConfig;

/* Totals of a profile so far. */
typedef struct ProfileTotals {
  uint64_t samples;   /* number of sampling periods that the allocation samples represent */
  uint64_t timesamples;  /* number of sampling periods that the time samples represent */
  /* Number of sampling periods whose samples were lost because the disk was full or a write
     failed. */
  uint64_t lost;
  /* The lost samples by kind, in sampling periods.
     samples      of allocations and native memory
     natives      of native memory only
     timesamples  of time */
  EventTally missing;
  /* 'lost', plus the number of sampling periods of samples that were dropped before they were
     reported to the profile (profile_lost). */
  uint64_t all;
  uint64_t bytes;     /* bytes of the file, or of a flight recorder's events */
  /* Errno of the first failed write; in a stall (profile_room), errno of the write that is tried
     again; 0: none. */
  int error;
} ProfileTotals;

typedef struct Profile Profile;

/* A Lua state that reports to a profile. */
typedef struct ProfileState {
  Profile *profile;     /* NULL: none */
  uint32_t id;          /* number of the state, unique in the profile */
  size_t depth;         /* number of frames of the stack reported last */
  int outside;          /* 1: the thread that reports the events does not run the state (P8) */
} ProfileState;

/* Opens a profile and its file, and starts the writer thread. Returns NULL with errno and a
   line in 'err' on failure. */
Profile *profile_open (const ProfileConfig *config, char *err, size_t errsize);

/* Returns 1 if this process opened the profile. */
int profile_ismine (const Profile *p);

/* Returns the path of the file; for a running flight recorder, the requested path. */
const char *profile_path (const Profile *p);
/* Returns why the requested file was not used, such as "is an existing profile"; NULL: it was
   used. */
const char *profile_elsewhere (const Profile *p);
/* Stores the device and inode of the profile's file in *file. Sets st_nlink to 0 if the file was
   removed and has no other name, else to 1. For a flight recorder, sets *file to zeros. */
void profile_file (const Profile *p, struct stat *file);

/* Emits the start of a Lua state. Call profile_start, profile_called, profile_leave and
   profile_orphans only for a profile of many states. */
void profile_start (ProfileState *s);
/* Emits the name of a state, which may have any bytes. */
void profile_called (ProfileState *s, const char *name);
/* Emits the end of a state. After that, only deaths of samples of native memory are reported for
   this state.
   bytes    exact number of bytes that the state has allocated
   left     counts of dropped data
   lost     number of lost samples
   orphans  number of live samples of native memory */
void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left, uint64_t lost,
                    uint64_t orphans);
/* Emits deaths of native-memory samples of an ended state. 'runs' has n lengths of runs of
   consecutive samples in the list of survivors (P7): alive, dead, alive, and so on. */
void profile_orphans (ProfileState *s, uint64_t time, const uint32_t *runs, size_t n);

/* Emits a Lua function. Name and source may have any bytes; the source has no leading '@' or
   '='. */
void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source);

/* Emits an allocation or copy sample. Waits for the writer if the queue is full. The sample's stack
   consists of the n frames in 'frames', innermost first, and the 'shared' outermost frames of the
   state's previous stack. Of a stack, at most PROFILE_DEPTH frames are written to the file. */
void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n);

/* Returns 0 during a stall, else 1. A stall starts when a write fails, for example because the disk
   is full, and lasts while the write is retried. In a stall, time samples are lost and other events
   are kept; the caller should take no samples. */
int profile_room (Profile *p);
/* Call it before a sample that represents 'count' sampling periods is reported. Returns 0 in a
   stall (profile_room): the caller must drop the sample and report its periods by profile_lost, at
   the latest when the state leaves the profile. */
int profile_offer (Profile *p, uint64_t count);

/* Returns 1 if a sample can be reported now, probably without waiting. Returns 0 if this thread is
   already reporting an event, for example if a signal handler has interrupted the report. */
int profile_ready (Profile *p);

/* Adds n to the number of sampling periods whose samples were dropped before they were reported to
   the profile. */
void profile_lost (Profile *p, uint64_t n);

/* Emits a time sample; its stack is passed as in profile_sample. The sample is lost if writing is
   stalled (profile_room). */
void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n);

/* Emits the name of a class of objects (classes.h), which may have any bytes. Ids are 1, 2, ... in
   order. */
void profile_class (ProfileState *s, uint32_t id, const char *name);

/*
** Emits a collection.
** survived  the outcome of each of the n oldest undecided samples. 0: died; 1: survived; 2:
**           survived, but its death will not be reported
** classes   the class of each of these samples (0: none); or NULL
** deaths    lengths of runs of consecutive samples in the list of survivors (P7): alive, dead,
**           alive, and so on
*/
void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths);

/* Emits path number 'id' of references to a live object. This path consists of path number
   'parent' (0: the empty path) and one more reference, 'step'. */
void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step);
/* Emits for each of the n samples in the list of survivors (P7) the path of references that keeps
   the sampled object alive: ids[i] is the path's number (profile_holderpath); 0: no path was
   found. */
void profile_holders (ProfileState *s, const uint32_t *ids, size_t n);
/* Emits the start (CLOCK_MONOTONIC, ns) and the duration (ns) of a pause in which the heap was
   searched for the references that keep sampled objects alive. */
void profile_walk (ProfileState *s, uint64_t start, uint64_t duration);

/* Emits a mark, a name with a value that the program adds to the profile. Both may have any bytes.
   Returns 0 if the profile has ended or failed. */
int profile_mark (ProfileState *s, uint64_t time, const char *name,
                  size_t namelen, const char *value, size_t valuelen);

/* Emits a row of a snapshot of resident memory (resident.h). Rows with the same time form a
   snapshot. */
void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text);

/* Emits the period of later time samples, in ns; 0: there are none. 'wall' 1: the period is of wall
   time; 0: of CPU time. */
void profile_timeperiod (ProfileState *s, uint64_t ns, int wall);

/* Emits the exact bytes that the state allocated while it was sampled. Call it before
   profile_end. */
void profile_allocated (ProfileState *s, uint64_t bytes);

/* Emits the exact bytes that the state allocated with label set 'set' (not 0). The next
   profile_allocated or profile_leave must include these bytes. */
void profile_labelled (ProfileState *s, uint32_t set, uint64_t bytes);

/* Emits the counts of the state's data that were dropped because of limits. */
void profile_left (ProfileState *s, const ProfileLeft *left);

/* Emits the period of later allocation samples, in bytes. */
void profile_period (ProfileState *s, uint64_t period);

/* Encodes and writes the remaining events, joins the writer thread and closes the file. Later
   events are lost. A second call, or a call in a forked child, only fills *totals. Fills *totals
   unless 'totals' is NULL. Returns 0, or -1 after a loss or error. */
int profile_end (Profile *p, ProfileTotals *totals);

/* Writes all events reported so far to the file, and returns when that is done; 'to' must be NULL.
   A flight recorder instead writes its content to the file 'to'; NULL: to its next file. 'isshort'
   1: memory is exhausted, so the writer uses its reserve. Stores the file's path in 'path'. Returns
   0 with the reason in 'err' on failure. */
int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize, char *err,
                  size_t errsize);
int profile_isring (const Profile *p);
/* Returns the number in the name of a flight recorder's next file. */
unsigned profile_number (const Profile *p);

/* largest number of elements of ProfileLast.runs */
#define PROFILE_LASTRUNS	64

typedef struct ProfileLast ProfileLast;

/* Calls f with the number of each label set of a state and the bytes allocated with the set.
   Returns the sum of the bytes. */
typedef uint64_t ProfileSets (const ProfileLast *last,
                              void (*f) (void *ud, uint32_t set, uint64_t bytes),
                              void *ud);

/* Data of a state that profile_exit emits. nruns 0: the final data of an open state; 'runs' and
   'time' are unused. nruns above 0: deaths of samples of native memory of a state whose end was
   emitted earlier; the fields after 'time' are unused. */
struct ProfileLast {
  const ProfileState *state;
  /* Number of elements of 'runs'. The elements are lengths of runs of consecutive samples in the
     list of survivors (P7): alive, dead, alive, and so on. */
  size_t nruns;
  uint32_t runs[PROFILE_LASTRUNS];
  uint64_t time;
  uint64_t bytes;       /* exact bytes that the state allocated while it was sampled; 0: none */
  ProfileSets *sets;    /* calls a function with the bytes of each label set; NULL: none */
  void *setsud;
  ProfileLeft left;
  uint64_t lost;        /* number of sampling periods whose samples were dropped (profile_lost) */
};

/*
** Like profile_end, for exit() and for a signal handler that interrupted any code. First calls
** 'next' until it returns 0, and emits the final data that each call stores in *last. If the
** interrupted code holds a lock that the writer needs, returns after about 3 s with the error
** EDEADLK.
*/
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *totals);

/* Calls profile_end, frees 'p', and returns profile_end's result. */
int profile_close (Profile *p, ProfileTotals *totals);

/* Returns the message for an errno from ProfileTotals.error. */
const char *profile_message (int error);
/* Writes profile_message(error) to 'why' and, if a resource limit is the cause, the remedy. 'size':
   bytes of 'why'. */
void profile_reason (int error, char *why, size_t size);

void profile_totals (Profile *p, ProfileTotals *totals);

/* Frees 'p' in a forked child, except memory that the parent's writer thread may have been
   changing. The child may call only this function and profile_close for 'p'. */
void profile_abandon (Profile *p);

#endif
