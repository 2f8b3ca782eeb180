/* SPDX-License-Identifier: MIT */
/*
** The common state of the reader's parts: the ReadProfile being filled, the client, tables of
** names, and samples in progress. In our own files the stacks of a batch are queued in 'runs'
** until the details of the batch; then its samples are queued in 'open' until their outcomes,
** as those of other writers are at once. Used only by the files of reader.h.
*/
#ifndef asamp_readerstate_h
#define asamp_readerstate_h

#include "aliases.h"
#include "readerstream.h"
#include "readprofile.h"

/* Consecutive equal stacks without details. */
typedef struct Run {
  uint64_t copies;
  uint64_t time;       /* us; in the extended format */
  uint64_t thread;
  uint32_t node;
  uint32_t type;       /* READER_TIMERUN, or the type number of our files */
} Run;

#define READER_TIMERUN	256u  /* the 'type' of runs of time samples; above all type numbers */

/* Upper bound of all times: exact as a double, 143 years. */
#define READER_MAXTIME	((uint64_t)1 << 52)

/* Upper bound of the bytes or ns of all samples, so that no sum needs more than 63 bits. */
#define READER_MAXSUM	((uint64_t)1 << 62)

typedef struct ReaderState {
  ReadProfile *r;
  ReaderClient *client;
  int failed;          /* 1: memory ran out */
  uint64_t summed[2];  /* totals of all samples, wanted or not: bytes, ns of time */
  uint64_t decided;    /* bytes that all decided samples represent */
  int toomuch;         /* 1: a total exceeds READER_MAXSUM */
  int hashead;           /* 1: the client's 'head' was called */
  int format;          /* own files: format of the details */
  uint64_t last;       /* time of the last sample */
  uint64_t period;     /* present sampling period in bytes; of other writers 1. With many
		          states: initial period of a state */
  uint64_t timeperiod; /* the same for time samples, ns */
  uint64_t runfirst;   /* index of the first unused run */
  Run *runs;
  size_t nruns, runsize;
  ReaderStreams streams;
  ReaderStream *of;    /* state of the present line or sample */
  ReaderStream single; /* the only one in files of one state */
  IdMap kinds;         /* maps type and class to kind */
  IdMap types;         /* maps type (+ 1) to the number of its name */
  IdMap classes;       /* own files: maps class to the number of its name */
  IdMap byname;        /* own files: maps a name (+ 1) to id / 8 of its first function */
  Aliases aliases;     /* own files: further functions with the same name */
  uint32_t unnamed;    /* own files: function that represents those with names beyond the limit */
  uint32_t unknown;    /* number of "[unknown]" */
  uint32_t nameless;   /* functions without a name */
  uint64_t nstats;     /* number of metas gc_stats__N so far */
  int stat[3];         /* indexes of the statistics in use, reserved and resident bytes; -1:
		          missing */
  IdMap bystep;        /* maps path and step to the number of the extended path in
		          ReadProfile.paths */
  size_t pathsize, labelsetsize, labelsize;
  uint64_t lastset;    /* last label set beyond the limit; 0: none */
  uint64_t eventtime;  /* own files: time of the last event */
  const char *ahead;   /* outcomes up to here were decided at 'aheadtime' */
  uint64_t aheadtime;
} ReaderState;

/* Initializes the state. Returns 0 if there is not enough memory. */
int readerstate_open (ReaderState *s, ReaderClient *client);
/* Frees everything except the ReadProfile. */
void readerstate_close (ReaderState *s);

/* Return the sampling periods of the state 'of', in bytes and in ns. */
static inline uint64_t readerstate_period (const ReaderState *s) {
  return s->of->periodset ? s->of->period : s->period;
}

static inline uint64_t readerstate_timeperiod (const ReaderState *s) {
  return s->of->timeset ? s->of->timeperiod : s->timeperiod;
}

/* Makes the state with that number the present one; in files of one state has no effect. */
void readerstate_of (ReaderState *s, uint64_t id);
/*
** Returns the row of the state with that number, made if needed; NULL: it has no row of its
** own.
*/
ReadState *readerstate_find (ReaderState *s, uint64_t id);
/* Sets the OS thread of the present state. */
void readerstate_thread (ReaderState *s, uint64_t thread);
int readerstate_iswanted (const ReaderClient *client, uint32_t id);
/* Return the rows of the present state and its thread, for totals; NULL: there is none. */
ReadState *readerstate_row (ReaderState *s);
ReadThread *readerstate_threadrow (ReaderState *s);

/* Sets the state and thread for the client's next event. */
static inline void readerstate_toclient (ReaderState *s) {
  s->client->state = s->of->blind ? READER_NOSTATE : s->of->id;
  s->client->row = s->of->row;
  s->client->thread = s->of->thread != 0 ? s->r->threads[s->of->thread - 1].id : 0;
}

/* Adds a difference to a time, within the range of times. */
static inline uint64_t readerstate_later (uint64_t before, int64_t difference) {
  uint64_t time = before + (uint64_t)difference;
  return time <= READER_MAXTIME ? time : before;
}

/* Return 1 if the client does not want events of that time, or samples of that node. */
static inline int readerstate_isoutside (const ReaderState *s, uint64_t time) {
  return time < s->client->since || (s->client->till > 0 && time >= s->client->till);
}

static inline int readerstate_isexcluded (const ReaderState *s, const ReadSample *sample) {
  return readerstate_isoutside(s, sample->time) ||
         (sample->node < s->client->nwithout && s->client->without[sample->node]);
}

/* Returns the reason why reading must stop, or NULL. */
const char *readerstate_failure (const ReaderState *s);
/* Returns the kind of a type and a class (a number in 'text', 0: none). */
uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class);

#endif
