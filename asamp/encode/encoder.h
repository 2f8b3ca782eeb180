/* SPDX-License-Identifier: MIT */
/*
** The encoder: the events of a run in, the bytes of its VMProf log out.
**
** Owns everything that the two flavours differ in, the private metas that
** carry what VMProf has no place for, and which native addresses have got a
** name. Knows no file, no thread and no Lua; used by one thread at a time
** (the profile's writer). doc/profile-format.md describes what it writes.
** Invariants:
**   E1  times of stacks never decrease: a sample that comes late is given
**       the time of the one before;
**   E2  the stack of a sample is the one last set; its words are put together
**       once, and only those that changed;
**   E3  an event is complete in the output after encoder_batch, names and
**       details included: what is cut off there can be read in full.
*/
#ifndef asamp_encoder_h
#define asamp_encoder_h

#include "sample.h"
#include "vmprof.h"

/*
** A sample is repeated in the log as often as it counts, but for no more
** than these bytes (a gigabyte allocated at a period of 64 bytes would else
** be 16 million stacks); the details tell its true count and the copies.
*/
#define ENCODER_COPYBYTES	(32u << 20)

typedef struct EncoderConfig {
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  uint64_t period;      /* bytes a sample stands for */
  int random;           /* 1: exponential intervals of that mean */
  uint64_t mallocs;     /* bytes a sample of native memory stands for; 0: none
                           are taken */
  int copies;           /* 1: what is copied is sampled, at the period of allocation */
  uint64_t timeperiod;  /* ns of time that a time sample stands for, 0: none
                           are taken when the profile begins */
  int wall;             /* 1: of wall time, 0: of CPU time */
  int native;           /* 1: native frames are recorded */
  uint64_t followed;    /* deaths are told, of at most so many samples at a
                           time; 0: none are */
  const char *command;  /* what ran, for people; may be NULL */
  const char *tuning;   /* LUA_GC of the process; may be NULL */
  uint64_t pid;         /* of the process; 0: unknown */
  uint64_t recorder;    /* of a flight recorder: a number that no other has; 0: it is none */
  uint64_t recorded;    /* ... the time at which it was written, by the clock of 'start', ns */
  int states;           /* 1: of many states, each with numbers of its own for
                           functions, classes and paths (stock only) */
  uint64_t merged;      /* of so many profiles, one after the other; 0: of one */
  int numbered;         /* 1: these numbers of functions and classes are the file's */
  /*
  ** Name of a native address (a frame's id without its lowest bit), called
  ** once per address. Writes symbol and object
  ** file (both NUL-terminated; "" when unknown). NULL: native frames stay
  ** unnamed.
  */
  void (*resolve)(void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);
  void *resolve_ud;
  /* The labels of a set, called once a set: as labels_of, and what the limits of these
     have left out. NULL: samples have none. */
  size_t (*labels)(void *ud, uint32_t set, ProfileLabel *to);
  void *labels_ud;
  void (*labelsleft)(ProfileLeft *left, uint64_t *texts);
} EncoderConfig;

typedef struct Encoder Encoder;

/*
** Takes what is in 'out' and sets out->n to 0. Called between records,
** whenever some has gathered, and at the end of a batch. 'text': names of
** native code and details, not stacks.
*/
typedef void (*EncoderSink) (void *ud, Bytes *out, int text);

/*
** A new encoder, the head of the log being its first output. 'epoch' is the
** wall clock in us at the monotonic time 'start' (ns). NULL without memory.
*/
Encoder *encoder_new (const EncoderConfig *config, uint64_t start,
                      uint64_t epoch, EncoderSink sink, void *ud);
void encoder_free (Encoder *e);

/* What follows is of that state, which runs on that OS thread. Files of one state
   tell neither. */
void encoder_of (Encoder *e, uint32_t state, uint32_t thread);
/* Files of many: it begins; has a name; ends, having allocated so many bytes, with so many
   orphans: the samples of native memory that it follows still, if their deaths are told. */
void encoder_begin (Encoder *e, uint64_t time);
void encoder_called (Encoder *e, const char *name, size_t n);
void encoder_end (Encoder *e, uint64_t time, uint64_t bytes, uint64_t orphans);
/* Deaths among the orphans of a state, ended or not, as encoder_deaths; the dead leave the
   list at once. */
void encoder_orphans (Encoder *e, uint64_t time, uint32_t state, const uint32_t *runs, size_t n);
/* Files of many: no more is told of the state but how much it has allocated, and its end:
   what it takes in memory goes. */
void encoder_leave (Encoder *e);

/* 'name' as framename_lua composes it. */
void encoder_name (Encoder *e, uint64_t id, const char *name);
/*
** The stack of the samples that follow: the 'shared' outermost frames of the one
** before, and n new ones, innermost first.
*/
void encoder_stack (Encoder *e, size_t shared, const ProfileFrame *frames,
                    size_t n);
void encoder_sample (Encoder *e, const ProfileSample *s);
void encoder_time (Encoder *e, const ProfileTime *s);
void encoder_class (Encoder *e, uint32_t id, const char *name, size_t n);
/*
** Fates of the n oldest undecided samples; the collection itself follows.
** 'classes' may be NULL.
*/
void encoder_fates (Encoder *e, const unsigned char *survived,
                    const uint32_t *classes, size_t n);
/*
** Runs of the list of followed samples (P7), alive and dead in turn, n of them,
** even. The first runs since a fate or a collection begin at the oldest
** sample, others where those before have ended.
*/
void encoder_deaths (Encoder *e, const uint32_t *runs, size_t n);
void encoder_collection (Encoder *e, const ProfileCollection *c);
void encoder_period (Encoder *e, uint64_t period);
void encoder_timeperiod (Encoder *e, uint64_t ns, int wall);
/* Bytes that were allocated, by the state, known exactly; 0: unknown. */
void encoder_allocated (Encoder *e, uint64_t bytes);
/* Of what ran nobody knows how much: the file does not tell the sum. */
void encoder_notallocated (Encoder *e);
/* Who holds what: a path, and who is held by which (event.h). */
void encoder_path (Encoder *e, uint64_t id, uint32_t parent, const char *step);
void encoder_holders (Encoder *e, const uint32_t *runs, size_t n);
/* The walk by which this was found out: when it began, and how long the program waited. */
void encoder_walk (Encoder *e, uint64_t began, uint64_t ns);
/* Of where resident memory is, a row: n bytes of 'what', m of 'text'. */
void encoder_resident (Encoder *e, uint64_t time, const char *what, size_t n, int64_t bytes,
                       const char *text, size_t m);
void encoder_mark (Encoder *e, uint64_t time, const char *name,
                   size_t namelength, const char *value, size_t valuelength);

/* Counts of what limits have left out of the state, and, over all states, of texts cut. */
void encoder_left (Encoder *e, const ProfileLeft *left, uint64_t texts);

/* 1 when enough details wait that encoder_batch should be called. */
int encoder_full (const Encoder *e);

/* Names of new native addresses and the details since the last batch. */
void encoder_batch (Encoder *e);

/* The log is a flight recorder's: that many samples are from before and were alive, counts
   added up, which stand for so many bytes; it goes back so many ns, of 'wanted'. */
void encoder_ring (Encoder *e, uint64_t samples, uint64_t bytes, uint64_t ns, uint64_t wanted);

/* So many samples are not in the log, which encoder_finish tells. */
void encoder_lost (Encoder *e, uint64_t n);

/* The last batch, undecided objects, the trailer; 'now' as 'start'. */
void encoder_finish (Encoder *e, uint64_t now);

/* 1 when memory ran out: the output misses something. */
int encoder_failed (const Encoder *e);

#endif
