/* SPDX-License-Identifier: MIT */
/*
** What reading needs while it goes on, and its steps share: the ReadProfile that
** becomes full, the client, tables of what the file has named, and samples on
** their way. In our own files the stacks of a batch wait in 'runs' until the
** batch's details come; then its samples, as those of other writers do at once,
** wait in 'open' for their fates. Of reader.h's files alone.
*/
#ifndef asamp_readerstate_h
#define asamp_readerstate_h

#include "aliases.h"
#include "readerstream.h"
#include "readprofile.h"

/* Equal stacks in a row, details still to come. */
typedef struct Run {
  uint64_t copies;
  uint64_t time;       /* us; own, extended */
  uint64_t thread;
  uint32_t node;
  uint32_t type;       /* READER_TIMERUN, or as our files number it */
} Run;

#define READER_TIMERUN	256u  /* types are below */

/* No time is later: exact as a double, 143 years. */
#define READER_MAXTIME	((uint64_t)1 << 52)

/* What samples stand for in all, so that no sum of them needs more than 63 bits. */
#define READER_MAXSUM	((uint64_t)1 << 62)

typedef struct ReaderState {
  ReadProfile *r;
  ReaderClient *client;
  int failed;          /* memory is out */
  uint64_t summed[2];  /* of all samples, whoever wants them: bytes, ns of time */
  int toomuch;         /* these are more than READER_MAXSUM */
  int begun;           /* the client knows the head */
  int format;          /* own: of the details */
  uint64_t last;       /* time of the last sample */
  uint64_t period;     /* bytes a sample stands for now; others': 1. Of many states:
                          when they begin */
  uint64_t timeperiod; /* ns, likewise */
  uint64_t runfirst;   /* index of the first run not used up */
  Run *runs;
  size_t nruns, runsize;
  ReaderStreams streams;
  ReaderStream *of;    /* whose line, or sample, is read */
  ReaderStream single; /* files of one state: that */
  IdMap kinds;         /* type and class -> kind */
  IdMap types;         /* type (+ 1) -> number of its name */
  IdMap classes;       /* class (own) -> number of its name */
  IdMap byname;        /* own: number of a name (+ 1) -> the first function of ours
                          that has it, as 'aliases' counts them: id / 8 */
  Aliases aliases;     /* own: the others of that name */
  uint32_t unnamed;    /* own: stands for those whose names found no room */
  uint32_t unknown;    /* number of "[unknown]" */
  uint32_t nameless;   /* functions without a name */
  uint64_t nstats;     /* gc_stats__N metas so far */
  int stat[3];         /* which of them is in use, held, rss; -1: none */
  IdMap bystep;        /* the path and the step that lead to one -> its number in ReadProfile.paths */
  size_t pathsize, labelsetsize, labelsize;
  uint64_t lastset;    /* the last set of labels that had no room; 0: none */
  uint64_t eventtime;  /* own: likewise, of events */
  const char *ahead;   /* up to here, fates are decided at 'aheadtime' */
  uint64_t aheadtime;
} ReaderState;

/* 0 without memory. */
int readerstate_open (ReaderState *s, ReaderClient *client);
/* Frees all but the ReadProfile. */
void readerstate_close (ReaderState *s);

/* The period, in bytes and in ns, of the state 'of'. */
static inline uint64_t readerstate_period (const ReaderState *s) {
  return s->of->periodset ? s->of->period : s->period;
}

static inline uint64_t readerstate_timeperiod (const ReaderState *s) {
  return s->of->timeset ? s->of->timeperiod : s->timeperiod;
}

/* From here on 'of' is the state of that number; in files of one state, that one. */
void readerstate_of (ReaderState *s, uint64_t id);
/* The row of the state of that number, made if it is told for the first time; NULL: it has
   none of its own. */
ReadState *readerstate_find (ReaderState *s, uint64_t id);
/* It runs on that OS thread. */
void readerstate_thread (ReaderState *s, uint64_t thread);
int readerstate_iswanted (const ReaderClient *client, uint32_t id);
/* Of 'of', for the sums. NULL: there is none. */
ReadState *readerstate_row (ReaderState *s);
ReadThread *readerstate_threadrow (ReaderState *s);

/* The next event that the client is told is of 'of'. */
static inline void readerstate_tell (ReaderState *s) {
  s->client->state = s->of->blind ? READER_NOSTATE : s->of->id;
  s->client->row = s->of->row;
  s->client->thread = s->of->thread != 0 ? s->r->threads[s->of->thread - 1].id : 0;
}

/* 'before' and a difference, within what times may be. */
static inline uint64_t readerstate_later (uint64_t before, int64_t difference) {
  uint64_t time = before + (uint64_t)difference;
  return time <= READER_MAXTIME ? time : before;
}

/* Why reading ends early, or NULL. */
const char *readerstate_failure (const ReaderState *s);
/* The kind of a type and a class (a number in 'text', 0: none). */
uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class);

#endif
