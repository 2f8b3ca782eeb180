/* SPDX-License-Identifier: MIT */
/*
** Streams: the data of one Lua state each. In a file of many states (format 4), each has its
** own outcomes, deaths, differences, periods and paths. A line of the details belongs to the
** state that the last N or S before it names, a sample to the state that its record names.
** Other files have one stream.
**
** The objects alive in a state when it is closed do not count as dead at once: they count as
** alive at the end if no state was made later. So the leaks of a program that closes its state
** at its end are reported, and a server that makes a state for each request has none. Native
** memory does not die with a state: if the file records its deaths, these samples are orphans,
** and the stream is kept for them alone. Used by the reader only. Invariants:
**
**   RS1  there are at most READER_MAXSTREAMS streams; other states share a 'blind' one, whose
**        samples have no outcome;
**   RS2  each state has a row of ReadProfile.states, up to READER_MAXSTATES; the last one is
**        for all others;
**   RS3  at most READER_MAXSTREAMS streams are kept for orphans; nothing more is recorded of
**        other orphans. 'follow' then contains only the orphans.
*/
#ifndef asamp_readerstream_h
#define asamp_readerstream_h

#include "fifo.h"
#include "readerfollow.h"
#include "readprofile.h"

typedef struct ReaderStream {
  uint32_t id;
  uint32_t place;      /* index in the list */
  uint32_t row;        /* index in ReadProfile.states */
  uint32_t thread;     /* index in ReadProfile.threads + 1; 0: unknown */
  int hidden;          /* 1: the client does not want it */
  int blind;           /* 1: a state beyond the limit (RS1) */
  int closed;          /* 1: it has ended, at 'end' */
  uint64_t end;
  uint64_t orphans;    /* number of its orphans */
  struct ReaderStream *next;  /* stream closed after it */
  int periodset, timeset;  /* 1: it has periods of its own */
  uint64_t period, timeperiod;
  Fifo open;
  ReaderFollow follow;
  uint64_t decided, survived;  /* totals since the previous collection */
  uint64_t allocated;  /* bytes that all decided samples represent */
  ReadCollection before;       /* base of the next differences */
  uint64_t planned;    /* of the last minor collection: base of the next difference */
  size_t holderat;     /* number of entries of 'follow' whose holders were read */
  IdMap paths;         /* maps a path's number (+ 1) to that in ReadProfile.paths */
} ReaderStream;

/* All streams. All zero: none. */
typedef struct ReaderStreams {
  ReaderStream **list; /* in any order */
  size_t n, size;
  ReaderStream *closed, *last;  /* closed streams in the order of their ends; NULL: none */
  IdMap places;        /* maps ids (+ 1) to indexes in the list */
  ReaderStream **orphaned;  /* streams kept for orphans, in any order */
  size_t norphaned, orphanedsize;
  IdMap orphanedplaces;
  IdMap rows;          /* maps ids (+ 1) to rows */
  IdMap threads;       /* maps OS threads (+ 1) to indexes in ReadProfile.threads */
  size_t rowsize, threadsize;
  uint64_t inuse, held;  /* sums over the wanted states */
} ReaderStreams;

void readerstream_free (ReaderStream *s);

#endif
