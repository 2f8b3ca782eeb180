/* SPDX-License-Identifier: MIT */
/*
** A stream is the reader's data of one Lua state. In a file of many states (format 4), each state
** has its own outcomes, deaths, periods, paths, and previous values from which numbers are encoded
** as differences. A line of the details belongs to the state that the last line N or S before it
** names. A sample belongs to the state that its record names. Other files have one stream,
** ReaderState.single.
**
** When a state is closed, the objects alive in it do not count as dead at once: its stream stays in
** 'closed', and they die when the next state starts. If no state starts, they count as alive at the
** end. So the leaks of a program that closes its only state at its end are reported, but a server
** that makes a state for each request shows no leaks. Native memory does not die with a state. If
** the file records deaths of native memory, its samples become orphans when the state ends, and
** the stream is kept in 'orphaned' for them alone. Used only by the files of reader.h. Invariants:
**
**   RS1  'list' has at most READER_MAXSTREAMS streams; other states share ReaderState.single, which
**        is then 'blind': its samples are delivered as undecided at once;
**   RS2  each state has a row of ReadProfile.states, up to READER_MAXSTATES rows; all further
**        states share the last row;
**   RS3  'orphaned' has at most READER_MAXSTREAMS streams, whose 'follow' contains only orphans.
**        The orphans of states beyond that are dropped: their deaths are not delivered.
*/
#ifndef asamp_readerstream_h
#define asamp_readerstream_h

#include "fifo.h"
#include "readerfollow.h"
#include "readprofile.h"

typedef struct ReaderStream {
  uint32_t id;         /* id of the state in the file */
  uint32_t place;      /* index in ReaderStreams.list */
  uint32_t row;        /* index in ReadProfile.states */
  uint32_t thread;     /* index in ReadProfile.threads + 1; 0: unknown */
  int hidden;          /* 1: the client does not want the state */
  int blind;           /* 1: the stream of states beyond the limit (RS1) */
  int closed;          /* 1: the state has ended, at 'end' */
  uint64_t end;        /* time of the state's end, us since the start */
  uint64_t orphans;    /* number of orphans that are alive; set when the state ends */
  struct ReaderStream *next;  /* next stream of the list 'closed'; NULL: none */
  int periodset, timeset;  /* 1: the state has its own 'period'; its own 'timeperiod' */
  uint64_t period, timeperiod;  /* the state's sampling period in bytes, and that of its time
			           samples in ns; valid if set */
  Fifo open;           /* undecided allocation samples */
  ReaderFollow follow; /* followed samples */
  uint64_t decided, survived;  /* samples decided since the previous collection, and survivors
			          among them, in periods */
  uint64_t allocated;  /* bytes that all decided samples of the stream represent */
  ReadCollection before;       /* previous collection, to which the differences in the next line of
			          a collection are added */
  uint64_t planned;    /* 'planned' of the last minor collection, to which the next difference is
		          added */
  size_t holderat;     /* number of entries of 'follow' for which lines h have given the paths,
		          since the last line h with 'first' 1 */
  IdMap paths;         /* maps a path's number in the state (+ 1) to that in ReadProfile.paths */
} ReaderStream;

/* All streams. All zero: none. */
typedef struct ReaderStreams {
  ReaderStream **list; /* open and closed streams, in any order */
  size_t n, size;      /* number of streams, capacity */
  ReaderStream *closed, *last;  /* first and last stream of the linked list of closed streams, in
			           the order of their ends; 'closed' NULL: the list is empty */
  IdMap places;        /* maps ids (+ 1) to indexes in 'list'; an entry may be outdated */
  ReaderStream **orphaned;  /* streams kept for orphans, in any order */
  size_t norphaned, orphanedsize;  /* number of these streams, capacity */
  IdMap orphanedplaces;  /* maps ids (+ 1) to indexes in 'orphaned'; an entry may be outdated */
  IdMap rows;          /* maps ids (+ 1) to indexes in ReadProfile.states */
  IdMap threads;       /* maps OS threads (+ 1) to indexes in ReadProfile.threads */
  size_t rowsize, threadsize;  /* capacities of ReadProfile.states and .threads */
  uint64_t inuse, held;  /* bytes in use and reserved, summed over the wanted open states */
} ReaderStreams;

/* Frees a stream made by readerstate_of. */
void readerstream_free (ReaderStream *s);

#endif
