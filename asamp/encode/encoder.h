/* SPDX-License-Identifier: MIT */
/*
** Encodes the events of a profile as a VMProf log (doc/profile-format.md), stock or extended. Data
** without a VMProf record are written as private meta records. Used by one thread at a time. Times
** passed to functions are CLOCK_MONOTONIC in ns, except 'epoch'.
**
**   E1  times of stacks never decrease: a late sample receives the time of the previous one;
**   E2  the stack of a sample is the one that encoder_stack set last for its state. Only new frames
**       are passed to encoder_stack;
**   E3  after encoder_batch all events so far are in the output: a log that is cut there is fully
**       readable.
*/
#ifndef asamp_encoder_h
#define asamp_encoder_h

#include "sample.h"
#include "vmprof.h"

/* Largest total size, in bytes, of the copies of one sample's stack record: the record is written
   once for each sampling period that the sample represents. The exact number of periods is in the
   details (batch.h). */
#define ENCODER_COPYBYTES	(32u << 20)

/* Options of a log. */
typedef struct EncoderConfig {
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  uint64_t period;      /* sampling period of allocations at the start of the log, bytes */
  int random;           /* 1: random distances between allocation samples, 0: equal ones */
  uint64_t mallocs;     /* sampling period of native memory, bytes; 0: not sampled */
  int copies;           /* 1: copied bytes (of strings and of growing tables) are sampled */
  uint64_t timeperiod;  /* sampling period of time at the start of the log, ns; 0: none */
  int wall;             /* 1: time samples measure wall time, 0: CPU time */
  int native;           /* 1: stacks have native frames, 0: only Lua frames */
  uint64_t followed;    /* largest number of survivors that are followed at a time, that is, whose
                           deaths will be recorded; 0: no deaths are recorded */
  const char *command;  /* command line for display, or NULL */
  const char *tuning;   /* value of the variable LUA_GC, or NULL */
  uint64_t pid;         /* process id; 0: unknown */
  uint64_t recorder;    /* random number that all files of one flight recorder share; 0: none */
  uint64_t recorded;    /* time at which a flight recorder writes the log, CLOCK_MONOTONIC, ns */
  int states;           /* 1: the log has many Lua states, 0: one; always 0 in the extended
                           format */
  uint64_t merged;      /* number of merged profiles; 0: not merged */
  const char *sources;  /* text that identifies the merged profiles, or NULL */
  int numbered;         /* 1: all states share the numbers of functions and classes; 0: each state
                           has its own numbers, from 1 */
  /* Writes the symbol and the object file of a native address, or "" if unknown. The address is
     a frame's id (frameids.h) without its lowest bit. Called once per id. NULL: native frames have
     no names. */
  void (*resolve)(void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);
  void *resolve_ud;
  /* Stores the labels of a set in 'to' and returns their number. Called once per set. NULL: the log
     has no labels. */
  size_t (*labels)(void *ud, uint32_t set, ProfileLabel *to);
  void *labels_ud;
  /* Adds the numbers of labels that limits have dropped to *left, and the number of truncated label
     texts to *texts. */
  void (*labelsleft)(ProfileLeft *left, uint64_t *texts);
} EncoderConfig;

typedef struct Encoder Encoder;

/* Takes the bytes in 'out' and sets out->n to 0. Called between records. */
typedef void (*EncoderSink) (void *ud, Bytes *out);

/* Makes an encoder and writes the head of the log. 'start' is the start of the log by
   CLOCK_MONOTONIC, in ns; 'epoch' is the same time in us since 1970. Returns NULL if out of
   memory. */
Encoder *encoder_new (const EncoderConfig *config, uint64_t start,
                      uint64_t epoch, EncoderSink sink, void *ud);
void encoder_free (Encoder *e);

/* Makes 'state' the current state, to which the following events belong. 'thread' is the OS thread
   that runs the state; 0: the state's last thread. */
void encoder_of (Encoder *e, uint32_t state, uint32_t thread);
/* Records the start of the current state (encoder_of). Only for files of many states. */
void encoder_start (Encoder *e, uint64_t time);
/* Records the name of the current state (encoder_of). Only for files of many states. */
void encoder_called (Encoder *e, const char *name, size_t n);
/* Records the end of the current state (encoder_of), and the bytes that it has allocated. Only for
   files of many states. 'orphans' is the number of the state's samples of native memory that are
   still alive; encoder_orphans records their deaths. */
void encoder_end (Encoder *e, uint64_t time, uint64_t bytes, uint64_t orphans);
/* Records deaths of an ended state's samples of native memory: n run lengths, alternately of live
   and dead samples, oldest sample first. Samples that an earlier call has reported dead are not
   counted. */
void encoder_orphans (Encoder *e, uint64_t time, uint32_t state, const uint32_t *runs, size_t n);
/* Frees the encoder's data of the current state. Afterwards, only the state's allocated bytes and
   its end may be recorded. Call encoder_of before the next event. */
void encoder_leave (Encoder *e);

/* Records the name of a function, in the form of framename_lua. Writes it once per id. */
void encoder_name (Encoder *e, uint64_t id, const char *name);
/* Sets the stack of the following samples: n new frames, innermost first, and the 'shared'
   outermost frames of the previous stack. */
void encoder_stack (Encoder *e, size_t shared, const ProfileFrame *frames,
                    size_t n);
void encoder_sample (Encoder *e, const ProfileSample *s);
void encoder_time (Encoder *e, const ProfileTime *s);
void encoder_class (Encoder *e, uint32_t id, const char *name, size_t n);
/* Records for the n oldest samples without a recorded survival whether they survived a collection
   ('survived' and 'classes': see batch_fates). Call it before encoder_collection. */
void encoder_fates (Encoder *e, const unsigned char *survived,
                    const uint32_t *classes, size_t n);
/* Records deaths of followed samples (survivors whose deaths are reported): n run lengths,
   alternately of live and dead samples. The first run starts where the previous call's runs ended;
   after encoder_fates or encoder_collection, at the oldest followed sample. */
void encoder_deaths (Encoder *e, const uint32_t *runs, size_t n);
void encoder_collection (Encoder *e, const ProfileCollection *c);
void encoder_period (Encoder *e, uint64_t period);
void encoder_timeperiod (Encoder *e, uint64_t ns, int wall);
/* Adds 'bytes', the exact number of bytes that the current state (encoder_of) has allocated, to the
   total of the log. In files of many states, also records this number for the state. A total of 0
   means unknown. */
void encoder_allocated (Encoder *e, uint64_t bytes);
/* Records the exact bytes that the current state (encoder_of) has allocated with a label set. The
   bytes of the next encoder_allocated or encoder_end include these bytes. */
void encoder_labelled (Encoder *e, uint32_t set, uint64_t bytes);
/* Records that the bytes by label set are unknown. */
void encoder_notlabelled (Encoder *e);
/* Makes encoder_finish omit the total of allocated bytes, because the bytes of some states are
   unknown. */
void encoder_notallocated (Encoder *e);
/* Records path 'id' of references to a live object: path 'parent' (0: empty) with the reference
   'step' added. */
void encoder_path (Encoder *e, uint64_t id, uint32_t parent, const char *step);
/* Records which paths of references keep the sampled objects alive. The n words have the form of
   the body of EVENT_HOLDERS (event.h). */
void encoder_holders (Encoder *e, const uint32_t *runs, size_t n);
/* Records a heap walk that searched for references to sampled objects. It started at 'start' and
   paused the program for 'ns'. */
void encoder_walk (Encoder *e, uint64_t start, uint64_t ns);
/* Records a row of a snapshot of resident memory: the name of a use (n bytes long) and the bytes of
   memory that this use takes. 'text', m bytes long, is the file or source line to which the memory
   belongs, or "". */
void encoder_resident (Encoder *e, uint64_t time, const char *what, size_t n, int64_t bytes,
                       const char *text, size_t m);
void encoder_mark (Encoder *e, uint64_t time, const char *name,
                   size_t namelength, const char *value, size_t valuelength);

/* Adds *left, counts of dropped data, to the counts of the log. Sets the log's number of truncated
   texts to 'texts', which must include the texts of all states. */
void encoder_left (Encoder *e, const ProfileLeft *left, uint64_t texts);

/* Returns 1 if encoder_batch should be called. */
int encoder_full (const Encoder *e);

/* Ends the batch: writes the names of new native addresses, then the details (batch.h). */
void encoder_batch (Encoder *e);

/* Marks the log as written by a flight recorder.
   samples  number of samples that are older than the recorded time and whose memory was alive
            when this time started. A sample that represents k sampling periods counts k times
   bytes    the bytes that these samples represent
   ns       length of the recorded time, ns
   wanted   requested length, ns */
void encoder_ring (Encoder *e, uint64_t samples, uint64_t bytes, uint64_t ns, uint64_t wanted);

/* Sets the number of samples missing in the log. */
void encoder_lost (Encoder *e, uint64_t n);

/* Writes the last batch and the trailer. 'now' is the time of the end (CLOCK_MONOTONIC, ns). */
void encoder_finish (Encoder *e, uint64_t now);

/* Returns 1 if memory ran out: the output is incomplete. */
int encoder_failed (const Encoder *e);

#endif
