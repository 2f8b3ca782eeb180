/* SPDX-License-Identifier: MIT */
/*
** Streams: what one Lua state tells. In a file of many states (format 4) each has its
** own fates, deaths, differences, periods and paths; a line of the details is of the
** state that the last N or S before it has named, a sample of the one that its record
** names. Other files are one stream.
**
** What a state had alive when it was closed is not freed here at once: it counts as
** alive at the end if no state was made later. So the leaks of a program that closes
** its state at its end are told, and a server's that makes a state for each request
** are none. Blocks of native memory do not die with a state: where the file tells of their
** deaths they are its orphans, and the stream is kept for them alone. Used by the reader
** alone. Invariants:
**   RS1  the streams are at most READER_MAXSTREAMS; what is told by others is told of
**        one that is 'blind': its samples have no fate;
**   RS2  a row of ReadProfile.states for each state, READER_MAXSTATES at most; the last
**        one is for all that find no room;
**   RS3  at most READER_MAXSTREAMS streams are kept for orphans: of those of others nothing
**        more is known. 'follow' has nothing else then.
*/
#ifndef asamp_readerstream_h
#define asamp_readerstream_h

#include "fifo.h"
#include "readerfollow.h"
#include "readprofile.h"

typedef struct ReaderStream {
  uint32_t id;
  uint32_t place;      /* in the list */
  uint32_t row;        /* of ReadProfile.states */
  uint32_t thread;     /* of ReadProfile.threads, and one more; 0: not told */
  int hidden;          /* the client does not want it */
  int blind;           /* RS1 */
  int closed;          /* it has ended, at 'end', ... */
  uint64_t end;
  uint64_t orphans;    /* ... with so many */
  struct ReaderStream *next;  /* that was closed after it */
  int periodset, timeset;  /* it has periods of its own: */
  uint64_t period, timeperiod;
  Fifo open;
  ReaderFollow follow;
  uint64_t decided, survived;  /* since the collection before */
  uint64_t allocated;  /* bytes that all samples with a fate stand for */
  ReadCollection before;       /* base of the next differences */
  uint64_t planned;    /* likewise: of its last minor collection */
  size_t holderat;     /* of 'follow', so many holders have been told */
  IdMap paths;         /* a path's number (+ 1) -> that of ReadProfile.paths */
} ReaderStream;

/* All zero: none. */
typedef struct ReaderStreams {
  ReaderStream **list; /* in any order */
  size_t n, size;
  ReaderStream *closed, *last;  /* of these, as they were closed; NULL: none */
  IdMap places;        /* id (+ 1) -> place in the list */
  ReaderStream **orphaned;  /* kept for orphans, in any order */
  size_t norphaned, orphanedsize;
  IdMap orphanedplaces;
  IdMap rows;          /* id (+ 1) -> its row */
  IdMap threads;       /* an OS thread (+ 1) -> place in ReadProfile.threads */
  size_t rowsize, threadsize;
  uint64_t inuse, held;  /* sums over those that are shown */
} ReaderStreams;

void readerstream_free (ReaderStream *s);

#endif
