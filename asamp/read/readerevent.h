/* SPDX-License-Identifier: MIT */
/*
** What the records of a log mean: records in, events out. The part of the
** reader that knows what a stack, an object, a name and a detail are. Fills a
** Reading; owns what is needed only while reading. Used by reader.c alone.
**
** Three files share the work: readerevent.c (stacks, fates, metas),
** readerbatch.c (the details of our own files) and readername.c (names).
** In our own files the stacks of a batch wait in 'runs' until the batch's
** details come; then its samples, as those of other writers do at once, wait
** in 'open' for their fates.
*/
#ifndef asamp_readerevent_h
#define asamp_readerevent_h

#include "aliases.h"
#include "fifo.h"
#include "reader.h"
#include "readerfollow.h"

/* Equal stacks in a row, details still to come. */
typedef struct Run {
  uint64_t copies;
  uint64_t time;       /* us; own, extended */
  uint64_t thread;
  uint32_t node;
  uint32_t type;       /* READEREVENT_TIME, or as our files number it */
} Run;

#define READEREVENT_TIME	256u  /* types are below */

/* No time is later: exact as a double, 143 years. */
#define READEREVENT_MAXTIME	((uint64_t)1 << 52)

typedef struct ReaderState {
  Reading *r;
  ReaderClient *client;
  int failed;          /* memory is out */
  int begun;           /* the client knows the head */
  int format;          /* own: of the details */
  uint64_t last;       /* time of the last sample */
  uint64_t period;     /* bytes a sample stands for now; others': 1 */
  uint64_t timeperiod; /* ns, likewise */
  uint64_t runfirst;   /* index of the first run not used up */
  Run *runs;
  size_t nruns, runsize;
  Fifo open;
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
  uint64_t decided, survived;  /* since the collection before */
  uint64_t allocated;  /* bytes that all samples with a fate stand for */
  ReaderFollow follow;
  ReadCollection before;       /* own: base of the next differences */
  uint64_t eventtime;  /* own: likewise, of events */
  const char *ahead;   /* up to here, fates are decided at 'aheadtime' */
  uint64_t aheadtime;
} ReaderState;

/* 0 without memory. */
int readerevent_start (ReaderState *s, ReaderClient *client);
/* Why reading ends early, or NULL. */
const char *readerevent_failure (const ReaderState *s);
/* The Reading is complete after this; why it is not, or NULL. */
const char *readerevent_finish (ReaderState *s);
/* Frees all but the Reading. */
void readerevent_end (ReaderState *s);

/* 0 when a private meta is not what our writer writes. */
int readerevent_meta (ReaderState *s, const char *key, const char *value,
                      size_t n);

/* Is the id that of a type's leaf frame (own, stock)? Tells the type. */
int readerevent_typeframe (uint64_t id, uint32_t *type);

/*
** A stack record. 'seconds': of the monotonic clock, 0 when the record tells
** none. 'type': of an allocation, if the record tells it.
*/
void readerevent_stack (ReaderState *s, uint32_t node, uint32_t type,
                        double seconds, uint64_t thread, int allocation);

/* An object record with its n words, 8 bytes each, in the file's order. */
void readerevent_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* ------------------------------------- among the three files, not outside */

/* Tells the client that events begin, once. */
void readerevent_begin (ReaderState *s);
/* A sample to the client, and if it is of an allocation to the queue. */
void readerevent_sample (ReaderState *s, const ReadSample *sample);
/*
** Decides the oldest open sample, if there is one or was one; 'fate': 0 died,
** 1 survived, 2 survived and is not followed. 0: there is none left.
*/
int readerevent_decide (ReaderState *s, int fate, uint64_t class,
                        uint64_t time);
/* Of those that are followed 'alive' stay and the next 'dead' die. */
void readerevent_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                         uint64_t time);
void readerevent_collection (ReaderState *s, const ReadCollection *c);
/* The kind of a type and a class (a number in 'text', 0: none). */
uint32_t readerevent_kind (ReaderState *s, uint64_t type, uint64_t class);
/* The runs that wait have no details: their samples without them. */
void readerevent_giveup (ReaderState *s);

int readerbatch_read (ReaderState *s, const char *text, size_t n);

/* Gives an id that is new the name, if the map has room (R2). */
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/* Names of kinds, and the functions; 0 without memory. */
int readername_finish (ReaderState *s);

#endif
