/* SPDX-License-Identifier: MIT */
/*
** A stream is the reader's data of one Lua state. In a file of many states (format 4), each state
** has its own outcomes, deaths, periods and paths, and its own previous values, because many
** numbers are written as differences from the state's previous value. A line of the details
** (readerbatch.h) belongs to the current state, which the last line N or S before it names. A
** sample belongs to the state that its record names. Other files have one stream,
** ReaderState.single.
**
** When a state is closed, the objects alive in it do not count as dead at once. Its stream is
** stored in 'closed' until the next state starts; then their deaths are delivered, with the time of
** the close. If no state starts, the objects count as alive at the end. Two programs show the
** purpose: the leaks of a program that closes its only state at exit are reported, but a server
** that creates a state for each request shows no leaks. Native memory does not die with a state. If
** the file records deaths of native memory, the samples of this memory become orphans when the
** state ends. The stream is then kept in 'orphaned', with nothing but the orphans. Used only by the
** files that implement reader.h. Invariants:
**
**   RS1  'list' has at most READER_MAXSTREAMS streams; other states share ReaderState.single, which
**        is then 'blind': its samples are delivered at once, as samples without an outcome;
**   RS2  each state has a row of ReadProfile.states, up to READER_MAXSTATES rows; all further
**        states share the last row;
**   RS3  'orphaned' has at most READER_MAXSTREAMS streams, whose 'follow' contains only orphans.
**        The orphans of further states are dropped: their deaths are not delivered.
*/
#ifndef asamp_readerstream_h
#define asamp_readerstream_h

#include "fifo.h"
#include "readerfollow.h"
#include "readprofile.h"

typedef struct ReaderStream {
  uint32_t id;         /* id of the state in the file */
  uint32_t place;      /* index of this stream in ReaderStreams.list */
  uint32_t row;        /* index in ReadProfile.states */
  uint32_t thread;     /* index in ReadProfile.threads + 1; 0: unknown */
  int hidden;          /* 1: the client does not select the state (ReaderClient.only) */
  int blind;           /* 1: states beyond the limit share this stream, and their outcomes are
                          ignored (RS1) */
  int closed;          /* 1: the state has ended */
  uint64_t end;        /* if 'closed' is 1: time of the state's end, us since the start */
  uint64_t orphans;    /* number of live samples of native memory that outlive the ended state
                          (orphans, see the head); set when the state ends */
  struct ReaderStream *next;  /* next stream of the list 'closed'; NULL: none */
  /* 'period': the state's sampling period in bytes; valid if 'periodset' is 1. 'timeperiod': its
     period of time samples in ns; valid if 'timeset' is 1. */
  int periodset, timeset;
  uint64_t period, timeperiod;
  Fifo open;           /* allocation samples whose survival outcome was not read yet */
  ReaderFollow follow; /* followed samples: survivors whose death the file records */
  /* Sums of ReadSample.count over the samples that were decided since the previous collection, and
     over the survivors among these samples. */
  uint64_t decided, survived;
  uint64_t allocated;  /* bytes represented by all samples of the state whose survival outcome was
                          read */
  /* The state's previous collection. The next line g or G, which records a collection, has
     differences from it. */
  ReadCollection before;
  /* 'planned' of the state's last minor collection. The next line g, which records a minor
     collection, has the difference from it. */
  uint64_t planned;
  /* Lines h of a details text (readerbatch.h) have the paths of references to the followed samples
     (survivors whose death the file records) after a heap walk, in order. This is the number of
     entries of 'follow' whose path was read since that walk. */
  size_t holderat;
  /* Maps the number (+ 1) that the Lua state has given to a path of references to a live object to
     the path's index + 1 in ReadProfile.paths. */
  IdMap paths;
} ReaderStream;

/* The streams (reader's data) of all Lua states. All zero: none. */
typedef struct ReaderStreams {
  ReaderStream **list; /* open and closed streams, in any order */
  size_t n, size;      /* number of streams, capacity */
  ReaderStream *closed, *last;  /* first and last stream of the linked list of closed streams, in
			           the order of their ends; 'closed' NULL: the list is empty */
  /* Maps state ids (+ 1) to indexes in 'list'. An entry may be outdated, so the stream at the index
     must be checked for its id. */
  IdMap places;
  ReaderStream **orphaned;  /* streams of ended states that are kept for their live samples of
                               native memory (orphans), in any order */
  size_t norphaned, orphanedsize;  /* number of streams in 'orphaned', capacity of this array */
  IdMap orphanedplaces;  /* maps state ids (+ 1) to indexes in 'orphaned'; an entry may be outdated,
                            as in 'places' */
  IdMap rows;          /* maps state ids (+ 1) to indexes in ReadProfile.states */
  IdMap threads;       /* maps OS threads (+ 1) to indexes in ReadProfile.threads */
  size_t rowsize, threadsize;  /* capacities of ReadProfile.states and .threads */
  uint64_t inuse, held;  /* bytes in use, and bytes reserved, summed over the open states that the
                            client selects */
} ReaderStreams;

/* Frees a stream made by readerstate_of. */
void readerstream_free (ReaderStream *s);

#endif
