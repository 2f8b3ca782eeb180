/* SPDX-License-Identifier: MIT */
/*
** The common data of the reader's parts while a file is read: the ReadProfile being filled, the
** client, tables of names, and queued stacks and samples. A file written by asamp has the stacks of
** samples in records, and their sizes, types and outcomes in later texts (details.h). There, stacks
** are queued in 'runs' until the details text that describes them is read. After that the
** allocation samples are queued in ReaderStream.open until their survival outcomes are read.
** Allocation samples in files of other writers are queued in 'open' at once. Used only by the files
** that implement reader.h.
**
** A function that runs out of memory sets 'failed' and continues without the data; reading ends
** when readerstate_failure is called next.
*/
#ifndef asamp_readerstate_h
#define asamp_readerstate_h

#include "aliases.h"
#include "readerstream.h"
#include "readprofile.h"

/* Consecutive equal stacks in a file written by asamp. The text with the sizes, types and outcomes
   of their samples was not read yet. */
typedef struct Run {
  uint64_t copies;     /* number of equal stacks, at least 1 */
  uint64_t time;       /* time of the stacks, us since the start; 0 in files of the stock format,
                          which has no times of stacks */
  uint64_t thread;     /* Lua state or thread, as in ReadSample */
  uint32_t node;       /* node of the call tree that represents the stack */
  /* READER_TIMERUN for time samples; COPY_NEW, COPY_AGAIN or COPY_GROWN (sample.h) for samples of
     copied bytes. For allocation samples: an enum ProfileKind, or 0 in files of the extended
     format, where the details text has the kind. */
  uint32_t type;
} Run;

/* type of a run of time samples: above all types of blocks and copies */
#define READER_TIMERUN	256u

/* Upper bound of all times in us: 143 years. Times below it are exact as a double. */
#define READER_MAXTIME	((uint64_t)1 << 52)

/*
** Upper bound of the bytes of all samples, and of the ns of all time samples, so that no sum needs
** more than 63 bits.
*/
#define READER_MAXSUM	((uint64_t)1 << 62)

typedef struct ReaderState {
  ReadProfile *r;
  ReaderClient *client;
  int failed;          /* 1: an allocation failed */
  uint64_t summed[2];  /* totals of all samples, including those that the client does not select:
                          [0] bytes of allocation samples and copies, [1] ns of time samples */
  uint64_t decided;    /* bytes represented by the samples of all Lua states whose survival outcome
                          was read */
  int toomuch;         /* 1: the bytes or the ns of all samples exceed READER_MAXSUM */
  int hashead;           /* 1: the client's 'head' was called */
  int format;          /* in files written by asamp: format of the texts with the sizes and outcomes
                          of samples (details_format) */
  uint64_t last;       /* time of the last sample, us since the start */
  uint64_t period;     /* current sampling period in bytes; 1 in files of other writers. In files of
                          many Lua states: the period of the states without a period of their own */
  uint64_t timeperiod; /* current period of time samples in ns; in files of many Lua states as
                          'period' */
  uint64_t runfirst;   /* index of the first element of 'runs' that is still queued */
  /* Stacks of samples whose sizes and outcomes were not read yet: elements 'runfirst' to
     nruns - 1. */
  Run *runs;
  size_t nruns, runsize;  /* number of elements of 'runs', capacity */
  ReaderStreams streams;
  ReaderStream *of;    /* stream of the Lua state to which the current line or sample belongs; never
                          NULL */
  /* In files of one state: the only stream. In files of many states: the stream that the states
     beyond the limit share (RS1). If its 'row' is READER_NOSTATE, no line has named a current
     state. */
  ReaderStream single;
  IdMap kinds;         /* maps type and class to the index in ReadProfile.kinds */
  IdMap types;         /* maps type (+ 1) to the offset of its name in 'text' */
  IdMap classes;       /* in files written by asamp: maps class (+ 1) to the offset of its name in
                          'text' */
  /* The next three fields are used only in files written by asamp. The number of a function is its
     id / 8. */
  IdMap byname;        /* maps the offset of a name (+ 1) to the first function with this name */
  Aliases aliases;     /* maps a function to the first function with the same name */
  uint32_t unnamed;    /* function that represents those with names beyond the limit; 0: none */
  uint32_t unknown;    /* offset of "[unknown]" in 'text' */
  uint32_t nameless;   /* number of functions without a name so far */
  uint64_t nstats;     /* number of statistics in an object record: the number of meta records
                          gc_stats__N read so far */
  int stat[3];         /* indexes of three statistics: bytes in use, reserved and resident; -1: the
		          statistic is missing */
  /* Maps a path of references and the offset of a step's text to the path that has this step in
     addition. A path is represented by its index + 1 in ReadProfile.paths. */
  IdMap bystep;
  size_t pathsize, labelsetsize, labelsize;  /* capacities of the arrays of the ReadProfile */
  uint64_t lastset;    /* number of the last label set that was dropped because of
                          READER_MAXLABELSETS; 0: none */
  uint64_t eventtime;  /* in files written by asamp: time of the last event that has a time (line g,
                          G, m, N or X of readerbatch.h), us since the start */
  /* Cache of the function 'decision' (readerbatch.c). Outcomes and deaths in lines of the current
     details text (readerbatch.h) before the address 'ahead' have the time 'aheadtime', us since the
     start. 'ahead' NULL: no time is cached. */
  const char *ahead;
  uint64_t aheadtime;
} ReaderState;

/*
** Initializes *s and creates its ReadProfile. Returns 0 if there is not enough memory;
** readerstate_close must be called in either case.
*/
int readerstate_open (ReaderState *s, ReaderClient *client);
/* Frees everything except the ReadProfile s->r. */
void readerstate_close (ReaderState *s);

/* Return the periods of the Lua state of s->of: the sampling period in bytes, and the period of
   time samples in ns. */
static inline uint64_t readerstate_period (const ReaderState *s) {
  return s->of->periodset ? s->of->period : s->period;
}

static inline uint64_t readerstate_timeperiod (const ReaderState *s) {
  return s->of->timeset ? s->of->timeperiod : s->timeperiod;
}

/*
** Sets s->of to the stream (the reader's data) of the Lua state with that id, and creates the
** stream if needed. Has no effect in files of one state.
*/
void readerstate_of (ReaderState *s, uint64_t id);
/* In a file of many Lua states, records that there is no current state, to which lines and samples
   belong. */
static inline void readerstate_none (ReaderState *s) {
  s->of = &s->single;
  s->single.row = READER_NOSTATE;
}

/* Returns 1 if the file has many Lua states and no line has named the current one. */
static inline int readerstate_isnone (const ReaderState *s) {
  return s->r->many && s->of == &s->single && s->single.row == READER_NOSTATE;
}

/*
** Returns the row of ReadProfile.states for the state with that id, and creates the row if needed.
** Returns NULL if the state shares its row with others, or would share it (RS2), or if it has no
** row and 'list' has READER_MAXSTREAMS streams (RS1).
*/
ReadState *readerstate_find (ReaderState *s, uint64_t id);
/* Sets the OS thread of s->of to the thread with that system number. A new thread beyond
   READER_MAXTHREADS is counted in LEFT_THREADS, and s->of then has no thread. */
void readerstate_thread (ReaderState *s, uint64_t thread);
/* Returns 1 if the client selects the Lua state with that id (ReaderClient.only). */
int readerstate_iswanted (const ReaderClient *client, uint32_t id);
/*
** Return the rows of the state of s->of in ReadProfile.states and of its OS thread in
** ReadProfile.threads, so that the caller can add to their sums; NULL if there is no such row. A
** result is valid until the next row is created.
*/
ReadState *readerstate_row (ReaderState *s);
ReadThread *readerstate_threadrow (ReaderState *s);

/* Sets the client's 'state', 'row' and 'thread' for its next event, which belongs to the state of
   s->of. */
static inline void readerstate_toclient (ReaderState *s) {
  s->client->state = s->of->blind ? READER_NOSTATE : s->of->id;
  s->client->row = s->of->row;
  s->client->thread = s->of->thread != 0 ? s->r->threads[s->of->thread - 1].id : 0;
}

/* Returns the time 'before' + 'difference'; 'before' if that is not from 0 to READER_MAXTIME. */
static inline uint64_t readerstate_later (uint64_t before, int64_t difference) {
  uint64_t time = before + (uint64_t)difference;
  return time <= READER_MAXTIME ? time : before;
}

/* Returns 1 if the client does not select events of that time (ReaderClient.since and till). */
static inline int readerstate_isoutside (const ReaderState *s, uint64_t time) {
  return time < s->client->since || (s->client->till > 0 && time >= s->client->till);
}

/* Returns 1 if the client does not select samples of that time or node (ReaderClient.since, till
   and without). */
static inline int readerstate_isexcluded (const ReaderState *s, const ReadSample *sample) {
  return readerstate_isoutside(s, sample->time) ||
         (sample->node < s->client->nwithout && s->client->without[sample->node]);
}

/* Returns the reason why reading must stop ('failed', 'toomuch', the client's 'stop'), or NULL. */
const char *readerstate_failure (const ReaderState *s);
/*
** Returns the index in ReadProfile.kinds of a type and a class, and creates the kind if needed.
** 'class' is the offset of the class name, 0: none. If there are READER_MAXKINDS kinds, returns the
** kind of the type without a class or, if there is none, READER_UNKNOWN.
*/
uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class);

#endif
