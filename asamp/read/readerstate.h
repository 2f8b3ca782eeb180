/* SPDX-License-Identifier: MIT */
/*
** The reader's data while a file is read. Private to the files that implement reader.h.
**
** In asamp's files an allocation sample is read in three steps. Its stack is queued in 'runs'. When
** its size and type are read (details.h), the sample moves to the queue ReaderStream.open. There it
** stays until its survival is read. In other files a sample is added to 'open' at once.
**
** A function that runs out of memory sets 'failed' and continues; reading ends at the next call of
** readerstate_failure.
*/
#ifndef asamp_readerstate_h
#define asamp_readerstate_h

#include "aliases.h"
#include "readerstream.h"
#include "readprofile.h"

/* Consecutive equal stacks in a file of asamp. They are queued until the reader reads the batch
   record that has the sizes and types of their samples. */
typedef struct Run {
  uint64_t copies;     /* number of equal stacks, at least 1 */
  uint64_t time;       /* us since the start; 0: unknown */
  uint64_t thread;     /* thread number in the stack record; in files of many states, the id of the
                          Lua state */
  uint32_t node;       /* call tree node of the stack */
  /* Type of the samples.
     - of allocations: type of the block (enum ProfileKind; 0: not known yet)
     - of copied bytes: COPY_* (sample.h)
     - of time: READER_TIMERUN */
  uint32_t type;
} Run;

/* value of Run.type for time samples, larger than all types of blocks */
#define READER_TIMERUN	256u

/* Upper bound of the times of events, in us: 143 years. The time of a sample is at most twice this
   bound. A double represents all these times exactly. */
#define READER_MAXTIME	((uint64_t)1 << 52)

/* Limit of two sums over all samples of a file: the bytes of allocation and copy samples, and the
   ns of time samples. Above this limit the file cannot be read, so all sums fit into int64_t. */
#define READER_MAXSUM	((uint64_t)1 << 62)

typedef struct ReaderState {
  ReadProfile *r;
  ReaderClient *client;
  int failed;          /* 1: the reader has run out of memory */
  uint64_t summed[2];  /* [0]: bytes that all allocation and copy samples represent; [1]: ns that
                          all time samples represent */
  uint64_t decided;    /* bytes that all samples known to have died or survived represent */
  int toomuch;         /* 1: a sum in 'summed' would exceed READER_MAXSUM */
  int hashead;           /* 1: the client's callback 'head' was called */
  int format;          /* version of the text format of batches (details_format); 0: not a file of
                          asamp */
  uint64_t last;       /* time of the last sample, us since the start */
  uint64_t period;     /* sampling period, bytes, of the Lua states for which the file sets no
                          period; 1 in files of other writers */
  uint64_t timeperiod; /* period of time samples, ns, of the Lua states for which the file sets no
                          such period */
  uint64_t runfirst;   /* index of the first queued stack in 'runs' */
  /* Queue of stacks whose samples' sizes and types were not read yet. It starts at runs[runfirst];
     the stacks before it were delivered. */
  Run *runs;
  size_t nruns, runsize;  /* number of elements of 'runs', capacity */
  ReaderStreams streams;
  ReaderStream *of;    /* data of the current Lua state; never NULL */
  /* In a file of one Lua state: its data. In a file of many states: data shared by all states
     beyond READER_MAXSTREAMS; also used while no state is current (then 'row' is
     READER_NOSTATE). */
  ReaderStream single;
  IdMap kinds;         /* maps a type and a class to their index in ReadProfile.kinds */
  IdMap types;         /* maps the number of a type, + 1, to the offset of its name in
                          ReadProfile.text */
  IdMap classes;       /* maps the id of a class, + 1, to the offset of its name in
                          ReadProfile.text */
  /* 'byname', 'aliases' and 'unnamed' are used only for asamp's files. There the number of a
     function is its frame id / 8. */
  IdMap byname;        /* maps a name's offset + 1 to the number of the first function with that
                          name */
  Aliases aliases;     /* maps a function to the first function with the same name */
  uint32_t unnamed;    /* number of the function that represents all names beyond the limit
                          READER_MAXIDS; 0: none */
  uint32_t unknown;    /* offset of "[unknown]" in ReadProfile.text */
  uint32_t nameless;   /* number of functions without a name so far */
  uint64_t nstats;     /* number of words with statistics at the end of an object record */
  int stat[3];         /* indexes of the bytes in use, reserved and resident among the statistics of
                          an object record; -1: missing */
  /* Maps a path of references and one more reference (a "step") to the longer path. A path is an
     index in ReadProfile.paths + 1. */
  IdMap bystep;
  size_t pathsize, labelsetsize, labelsize;  /* capacities of r->paths, r->labelsets, r->labels */
  uint64_t lastset;    /* number of the last label set that was dropped because of the limit
                          READER_MAXLABELSETS; 0: none */
  /* Time, us since the start, of the last event of one of these kinds: a collection, a mark, the
     start of a Lua state, the end of a Lua state. The file stores the time of the next such event
     as the difference from this time. */
  uint64_t eventtime;
  /* Cache of the function 'decision' (readerbatch.c): the next collection in the text of the
     current batch.
     ahead      address in the line of this collection, or the end of the text if there is none;
                NULL: the cache is empty
     aheadtime  time at which the samples in the lines before 'ahead' were found alive or dead */
  const char *ahead;
  uint64_t aheadtime;
} ReaderState;

/* Initializes *s and its ReadProfile. Returns 0 if out of memory; call readerstate_close in either
   case. */
int readerstate_open (ReaderState *s, ReaderClient *client);
/* Frees all memory of *s except s->r. */
void readerstate_close (ReaderState *s);

/* Returns the current state's sampling period in bytes. */
static inline uint64_t readerstate_period (const ReaderState *s) {
  return s->of->periodset ? s->of->period : s->period;
}

/* Returns the current state's period of time samples in ns. */
static inline uint64_t readerstate_timeperiod (const ReaderState *s) {
  return s->of->timeset ? s->of->timeperiod : s->timeperiod;
}

/* Makes the Lua state with that id the current one. Creates the state's stream if needed. Does
   nothing in files of one state. */
void readerstate_of (ReaderState *s, uint64_t id);
/* Records that there is no current Lua state. */
static inline void readerstate_none (ReaderState *s) {
  s->of = &s->single;
  s->single.row = READER_NOSTATE;
}

/* Returns 1 if the file has many states and no state is current. */
static inline int readerstate_isnone (const ReaderState *s) {
  return s->r->many && s->of == &s->single && s->single.row == READER_NOSTATE;
}

/* Returns the element of ReadProfile.states for a Lua state; creates it if needed. Returns NULL if
   the state has no element of its own, because READER_MAXSTATES elements or READER_MAXSTREAMS
   streams (ReaderStream) exist. */
ReadState *readerstate_find (ReaderState *s, uint64_t id);
/* Sets the OS thread of the current state. If the thread is new and READER_MAXTHREADS threads are
   known, counts it in LEFT_THREADS instead. */
void readerstate_thread (ReaderState *s, uint64_t thread);
/* Returns 1 if the client selects the Lua state. */
int readerstate_iswanted (const ReaderClient *client, uint32_t id);
/* Returns the element of ReadProfile.states for the current state; NULL: there is none. The pointer
   is valid until the next element is created. */
ReadState *readerstate_row (ReaderState *s);
/* Returns the element of ReadProfile.threads for the current state's OS thread; NULL: the thread is
   unknown. The pointer is valid until the next element is created. */
ReadThread *readerstate_threadrow (ReaderState *s);

/* Sets the client's 'state', 'row' and 'thread' for an event of the current Lua state. */
static inline void readerstate_toclient (ReaderState *s) {
  s->client->state = s->of->blind ? READER_NOSTATE : s->of->id;
  s->client->row = s->of->row;
  s->client->thread = s->of->thread != 0 ? s->r->threads[s->of->thread - 1].id : 0;
}

/* Returns before + difference, or 'before' if the sum is not a valid time (0 to READER_MAXTIME). */
static inline uint64_t readerstate_later (uint64_t before, int64_t difference) {
  uint64_t time = before + (uint64_t)difference;
  return time <= READER_MAXTIME ? time : before;
}

/* Returns 1 if the time is outside of the range that the client selects. */
static inline int readerstate_isoutside (const ReaderState *s, uint64_t time) {
  return time < s->client->since || (s->client->till > 0 && time >= s->client->till);
}

/* Returns 1 if the client does not select the time or the call tree node of the sample. */
static inline int readerstate_isexcluded (const ReaderState *s, const ReadSample *sample) {
  return readerstate_isoutside(s, sample->time) ||
         (sample->node < s->client->nwithout && s->client->without[sample->node]);
}

/* Returns the reason why reading must stop (no memory, sums too large, or the client's 'stop');
   NULL: none. */
const char *readerstate_failure (const ReaderState *s);
/* Returns the index in ReadProfile.kinds of blocks of this type (table, string, ...) whose objects
   have this class; creates the element if needed. 'class': offset of the class's name in
   ReadProfile.text; 0: none. If there are READER_MAXKINDS elements, returns the element of the type
   without a class, or READER_UNKNOWN if there is none. */
uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class);

#endif
