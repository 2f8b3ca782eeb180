/* SPDX-License-Identifier: MIT */
/*
** The encoder converts the events of a run to the bytes of its VMProf log.
**
** It implements the two formats, the private metas for data that VMProf has no record for, and the
** names of native addresses. Independent of files, threads and Lua. Used by one thread at a time,
** the profile's writer. doc/profile-format.md describes the output. Invariants:
**
**   E1  times of stacks never decrease: a sample that arrives late receives the time of the
**       previous sample;
**   E2  the stack of a sample is the one that the last encoder_stack of its state has set. Only
**       the words of the new frames are encoded;
**   E3  after encoder_batch, all events so far are complete in the output, including names and the
**       details of samples (batch.h). A log that is cut there is fully readable.
*/
#ifndef asamp_encoder_h
#define asamp_encoder_h

#include "sample.h"
#include "vmprof.h"

/* Largest number of bytes of all copies of one sample's stack. A stack is written once per period
   that the sample represents, up to this limit: 1 GiB allocated at a period of 64 bytes would be 16
   million stacks. The details of the batch (batch.h) have the true number of periods and the number
   of copies. */
#define ENCODER_COPYBYTES	(32u << 20)

/* Options of a log. */
typedef struct EncoderConfig {
  int format;           /* PROFILE_STOCK or PROFILE_EXTENDED */
  uint64_t period;      /* sampling period in bytes */
  int random;           /* 1: exponentially distributed intervals with mean 'period' */
  uint64_t mallocs;     /* period of samples of native memory in bytes; 0: none */
  int copies;           /* 1: copied bytes are sampled, with the period of allocation samples */
  uint64_t timeperiod;  /* period of time samples at the start, ns; 0: none */
  int wall;             /* 1: 'timeperiod' is of wall time, 0: of CPU time */
  int native;           /* 1: native frames are recorded */
  uint64_t followed;    /* largest number of live samples whose deaths will be recorded
			   (FOLLOWED_MOST); 0: no deaths are recorded */
  const char *command;  /* command line, for display; may be NULL */
  const char *tuning;   /* LUA_GC of the process; may be NULL */
  uint64_t pid;         /* process id; 0: unknown */
  uint64_t recorder;    /* unique number of the flight recorder whose log this is; 0: the log is not
			   of a flight recorder */
  uint64_t recorded;    /* in a flight recorder's log: time at which the log is written, monotonic
			   clock, ns */
  int states;           /* 1: the log has many states, each with its own numbers of functions,
			   classes and paths (stock format only) */
  uint64_t merged;      /* number of merged profiles; 0: not merged */
  const char *sources;  /* in a merged profile: the list of its source profiles
			   (readprofile_source); may be NULL */
  int numbered;         /* 1: all states use the same numbers of functions and classes */
  /* Callback that names a native address, which is a frame's id without its lowest bit. Called
     once for each of the first ENCODER_MAXNATIVES addresses. Writes symbol and object file, both
     NUL-terminated, or "" if unknown. NULL: native frames remain unnamed. */
  void (*resolve)(void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);
  void *resolve_ud;
  /* Callbacks for labels. 'labels' returns the labels of a set, like labels_of, and is called once
     per set; if it is NULL, samples have no labels. 'labelsleft' returns the numbers of labels
     dropped by limits. */
  size_t (*labels)(void *ud, uint32_t set, ProfileLabel *to);
  void *labels_ud;
  void (*labelsleft)(ProfileLeft *left, uint64_t *texts);
} EncoderConfig;

typedef struct Encoder Encoder;

/* Callback that takes the bytes in 'out' and sets out->n to 0. Called between records when enough
   bytes are available, and at the end of a batch or of the log. 'text' is 1 for names of native
   code, for texts with the sizes and outcomes of samples (batch.h), and for the trailer; 0 for
   stacks and other records. */
typedef void (*EncoderSink) (void *ud, Bytes *out, int text);

/*
** Makes an encoder. Its first output is the head of the log. 'epoch' is the wall clock time, in
** us, at the monotonic time 'start' (ns). Returns NULL if there is not enough memory.
*/
Encoder *encoder_new (const EncoderConfig *config, uint64_t start,
                      uint64_t epoch, EncoderSink sink, void *ud);
void encoder_free (Encoder *e);

/*
** Assigns the following events to a state and to an OS thread (0: the thread that the state had
** last). Files of one state record neither.
*/
void encoder_of (Encoder *e, uint32_t state, uint32_t thread);
/* In files of many Lua states: records the start of the state that encoder_of has set. */
void encoder_start (Encoder *e, uint64_t time);
/* In files of many Lua states: records the name of the state that encoder_of has set. */
void encoder_called (Encoder *e, const char *name, size_t n);
/*
** In files of many states: records the end of the state, and the bytes that it has allocated. If
** deaths are recorded, 'orphans' is the number of its samples of native memory whose blocks are not
** freed yet; their deaths are recorded later.
*/
void encoder_end (Encoder *e, uint64_t time, uint64_t bytes, uint64_t orphans);
/*
** Records deaths among the orphans of a state, its samples of native memory that were alive when it
** ended (in a merged file, also among samples of native memory of an open state). 'runs' has n
** lengths, alternately of live and of dead samples, starting at the oldest sample. Dead samples
** leave the state's list of orphans, so that the next call does not count them.
*/
void encoder_orphans (Encoder *e, uint64_t time, uint32_t state, const uint32_t *runs, size_t n);
/*
** In files of many states: frees the memory of the present state (encoder_of). After that, only
** its allocated bytes and its end may be recorded.
*/
void encoder_leave (Encoder *e);

/* Records the name of a function, as framename_lua composes it. Later calls for the same id have
   no effect. */
void encoder_name (Encoder *e, uint64_t id, const char *name);
/*
** Sets the stack of the following samples. It consists of the n new frames, innermost first, and
** of the 'shared' outermost frames of the previous stack.
*/
void encoder_stack (Encoder *e, size_t shared, const ProfileFrame *frames,
                    size_t n);
void encoder_sample (Encoder *e, const ProfileSample *s);
void encoder_time (Encoder *e, const ProfileTime *s);
void encoder_class (Encoder *e, uint32_t id, const char *name, size_t n);
/*
** Records the survival of the n oldest samples without an outcome, or of all if there are fewer
** than n. Call it before recording the collection that decided the outcomes. 'classes' may be NULL.
*/
void encoder_fates (Encoder *e, const unsigned char *survived,
                    const uint32_t *classes, size_t n);
/* Records deaths as n run lengths over the list of followed samples (survivors whose deaths are
   recorded; P7 of profile.h), alternately of live and of dead samples; n is even. The first call
   after an outcome or a collection starts at the oldest sample; later ones continue. */
void encoder_deaths (Encoder *e, const uint32_t *runs, size_t n);
void encoder_collection (Encoder *e, const ProfileCollection *c);
void encoder_period (Encoder *e, uint64_t period);
void encoder_timeperiod (Encoder *e, uint64_t ns, int wall);
/* Adds to the exact number of bytes that the state allocated. If the sum is 0 at the end, the
   number is unknown. */
void encoder_allocated (Encoder *e, uint64_t bytes);
/*
** Records the exact bytes that the state allocated with a set of labels. They are a part of the
** bytes that the next encoder_allocated or encoder_end of the state records.
*/
void encoder_labelled (Encoder *e, uint32_t set, uint64_t bytes);
/* Records that it is not known, for all Lua states, how many bytes were allocated with each label
   set. */
void encoder_notlabelled (Encoder *e);
/* Makes the file omit the total of allocated bytes. Called if the allocated bytes of a state are
   not known. */
void encoder_notallocated (Encoder *e);
/* Records a path of references from a root to a live object; the arguments are those of
   profile_holderpath. */
void encoder_path (Encoder *e, uint64_t id, uint32_t parent, const char *step);
/* Records which paths of references (encoder_path) keep sampled objects alive. 'runs' has the n
   numbers of EVENT_HOLDERS (event.h). */
void encoder_holders (Encoder *e, const uint32_t *runs, size_t n);
/* Records a walk over the heap that searched for the references that keep sampled objects alive.
   'start' is the time at which the walk stopped the program, 'ns' for how long. */
void encoder_walk (Encoder *e, uint64_t start, uint64_t ns);
/* Records one use of resident memory and its size, 'bytes'. 'what' (n bytes) names the use, 'text'
   (m bytes) is a file, a source line or empty. */
void encoder_resident (Encoder *e, uint64_t time, const char *what, size_t n, int64_t bytes,
                       const char *text, size_t m);
void encoder_mark (Encoder *e, uint64_t time, const char *name,
                   size_t namelength, const char *value, size_t valuelength);

/*
** Adds the counts in *left, of data of one state that were dropped because of limits, to the counts
** of the file. 'texts' is the number of truncated texts of all states so far.
*/
void encoder_left (Encoder *e, const ProfileLeft *left, uint64_t texts);

/* Returns 1 if the samples and events since the last encoder_batch have reached the size limit of a
   batch, so that encoder_batch should be called (batch_full). */
int encoder_full (const Encoder *e);

/* Ends the batch of samples since the previous call. Writes the names of their new native
   addresses, then their details: a text with their sizes, kinds and survival outcomes, and with the
   events between them (batch.h). */
void encoder_batch (Encoder *e);

/* Marks the log as that of a flight recorder. The part of the run whose events the recorder has
   kept is 'ns' long; 'wanted' ns were requested. 'samples' sampling periods belong to samples that
   were taken before this part and were still alive at its start; they represent 'bytes' bytes. */
void encoder_ring (Encoder *e, uint64_t samples, uint64_t bytes, uint64_t ns, uint64_t wanted);

/* Sets the number of samples that were taken but are missing in the log, which encoder_finish
   records. */
void encoder_lost (Encoder *e, uint64_t n);

/* Writes the last batch of samples, the objects of samples whose survival is not decided, and the
   trailer. 'now' is the time of the end, by the clock of 'start'. */
void encoder_finish (Encoder *e, uint64_t now);

/* Returns 1 if memory ran out: the output is incomplete. */
int encoder_failed (const Encoder *e);

#endif
