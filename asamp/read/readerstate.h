/* SPDX-License-Identifier: MIT */
/*
** The reader's data while a file is read. Only the files that implement reader.h include this
** header or those that include it.
**
** In asamp's files an allocation sample has three parts. Its stack is read first and queued in
** 'runs'. When its size and type are read (details.h), the sample moves to ReaderStream.open, until
** its outcome is read. In other files a sample is added to 'open' at once.
**
** A function that runs out of memory sets 'failed' and continues; reading ends at the next call of
** readerstate_failure.
*/
#ifndef asamp_readerstate_h
#define asamp_readerstate_h

#include "aliases.h"
#include "readerstream.h"
#include "readprofile.h"

/* Consecutive equal stacks of the log, kept until the record with their samples' sizes and types is
   read, which follows them in files that asamp wrote. */
typedef struct Run {
  uint64_t copies;     /* number of equal stacks, at least 1 */
  uint64_t time;       /* us since the start; 0: unknown */
  uint64_t thread;     /* number of the thread or, in files of many states, of the Lua state */
  uint32_t node;       /* call tree node of the stack */
  /* Allocation samples: type of the block (enum ProfileKind; 0: not known yet). Samples of copied
     bytes: COPY_* (sample.h). Time samples: READER_TIMERUN. */
  uint32_t type;
} Run;

/* Run.type of time samples, above all other types */
#define READER_TIMERUN	256u

/* Upper bound of times in us (143 years), exact as a double. */
#define READER_MAXTIME	((uint64_t)1 << 52)

/* Upper bound of the bytes or ns of all samples, so that sums fit into 63 bits. */
#define READER_MAXSUM	((uint64_t)1 << 62)

typedef struct ReaderState {
  ReadProfile *r;
  ReaderClient *client;
  int failed;          /* 1: an allocation failed */
  uint64_t summed[2];  /* [0]: bytes of all allocation and copy samples; [1]: ns of all time
                          samples */
  uint64_t decided;    /* bytes of all samples known to have died or survived */
  int toomuch;         /* 1: a sum in 'summed' would exceed READER_MAXSUM */
  int hashead;           /* 1: the client's callback 'head' was called */
  int format;          /* number of the format of the details (details_format) */
  uint64_t last;       /* time of the last sample, us since the start */
  uint64_t period;     /* sampling period of Lua states for which the file has none, bytes; 1 in
                          other writers' files */
  uint64_t timeperiod; /* period of time samples of Lua states for which the file has none, ns */
  uint64_t runfirst;   /* index of the first queued stack in 'runs' */
  /* Stacks. Those from runs[runfirst] on are queued: their sizes and types were not read yet. */
  Run *runs;
  size_t nruns, runsize;  /* number of elements of 'runs', capacity */
  ReaderStreams streams;
  ReaderStream *of;    /* data of the current Lua state; never NULL */
  /* In a file of one state: its data. In a file of many states: shared by all states beyond
     READER_MAXSTREAMS, and used while no state is current ('row' is READER_NOSTATE). */
  ReaderStream single;
  IdMap kinds;         /* maps type and class to the index in ReadProfile.kinds */
  IdMap types;         /* maps type + 1 to the offset of the type's name in ReadProfile.text */
  IdMap classes;       /* maps class + 1 to the offset of the class's name in ReadProfile.text */
  /* 'byname', 'aliases' and 'unnamed' are used for asamp's files. In them the number of a function
     is (frame id) / 8. */
  IdMap byname;        /* maps a name's offset + 1 to the first function with that name */
  Aliases aliases;     /* maps a function to the first one with the same name */
  uint32_t unnamed;    /* function that represents all names beyond the limit
                          READER_MAXIDS; 0: none */
  uint32_t unknown;    /* offset of "[unknown]" in ReadProfile.text */
  uint32_t nameless;   /* number of functions without a name so far */
  uint64_t nstats;     /* number of statistics in an object record */
  int stat[3];         /* positions of the bytes in use, reserved and resident in the statistics of
                          an object record; -1: missing */
  /* Maps a path of references and one more step to the longer path. The number of a path is its
     index in ReadProfile.paths + 1. */
  IdMap bystep;
  size_t pathsize, labelsetsize, labelsize;  /* capacities of r->paths, r->labelsets, r->labels */
  uint64_t lastset;    /* last label set dropped because of the limit; 0: none */
  uint64_t eventtime;  /* time of the last event with a time, us since the start */
  /* Cached result of 'decision' (readerbatch.c): 'aheadtime' is the time at which the outcomes and
     deaths in the batch's lines up to the address 'ahead' were decided. 'ahead' NULL: nothing is
     cached. */
  const char *ahead;
  uint64_t aheadtime;
} ReaderState;

/* Initializes *s and its ReadProfile. Returns 0 if out of memory; call readerstate_close in either
   case. */
int readerstate_open (ReaderState *s, ReaderClient *client);
/* Frees everything but s->r. */
void readerstate_close (ReaderState *s);

/* Returns the current state's sampling period in bytes. */
static inline uint64_t readerstate_period (const ReaderState *s) {
  return s->of->periodset ? s->of->period : s->period;
}

/* Returns the current state's period of time samples in ns. */
static inline uint64_t readerstate_timeperiod (const ReaderState *s) {
  return s->of->timeset ? s->of->timeperiod : s->timeperiod;
}

/* Makes the Lua state with that id the current one; creates its stream if needed. Does nothing
   in files of one state. */
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

/* Returns the row of a Lua state in ReadProfile.states; creates it if needed. NULL: the state
   shares its row or its stream with others, because of a limit. */
ReadState *readerstate_find (ReaderState *s, uint64_t id);
/* Sets the OS thread of the current state. If the thread is new and READER_MAXTHREADS threads are
   known, counts it in LEFT_THREADS instead. */
void readerstate_thread (ReaderState *s, uint64_t thread);
/* Returns 1 if the client selects the Lua state. */
int readerstate_iswanted (const ReaderClient *client, uint32_t id);
/* Returns the element of ReadProfile.states for the current state, or NULL. Valid until the next
   element is created. */
ReadState *readerstate_row (ReaderState *s);
/* Returns the element of ReadProfile.threads for the current state's OS thread, or NULL. Valid
   until the next element is created. */
ReadThread *readerstate_threadrow (ReaderState *s);

/* Sets the client's 'state', 'row' and 'thread' for an event of the current Lua state. */
static inline void readerstate_toclient (ReaderState *s) {
  s->client->state = s->of->blind ? READER_NOSTATE : s->of->id;
  s->client->row = s->of->row;
  s->client->thread = s->of->thread != 0 ? s->r->threads[s->of->thread - 1].id : 0;
}

/* Returns before + difference, or 'before' if the sum is no valid time (0 to READER_MAXTIME). */
static inline uint64_t readerstate_later (uint64_t before, int64_t difference) {
  uint64_t time = before + (uint64_t)difference;
  return time <= READER_MAXTIME ? time : before;
}

/* Returns 1 if the client does not select events of that time. */
static inline int readerstate_isoutside (const ReaderState *s, uint64_t time) {
  return time < s->client->since || (s->client->till > 0 && time >= s->client->till);
}

/* Returns 1 if the client does not select the time or the call tree node of the sample. */
static inline int readerstate_isexcluded (const ReaderState *s, const ReadSample *sample) {
  return readerstate_isoutside(s, sample->time) ||
         (sample->node < s->client->nwithout && s->client->without[sample->node]);
}

/* Returns the reason why reading must stop, or NULL. */
const char *readerstate_failure (const ReaderState *s);
/* Returns the index in ReadProfile.kinds of a type with a class (offset of its name in
   ReadProfile.text; 0: none); creates the kind if needed. At the limit READER_MAXKINDS returns the
   type without class, or READER_UNKNOWN. */
uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class);

#endif
