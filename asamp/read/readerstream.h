/* SPDX-License-Identifier: MIT */
/*
** A stream is the reader's data of one Lua state. In a file of many states, a sample belongs to the
** state whose id is in its record. A line of a batch (readerbatch.h) belongs to the state that the
** last line "N" (start of a state) or "S" (selection of a state) has named.
**
** The deaths of a closed state's objects are delivered when the next state starts, not before. So a
** program that closes its only state at exit has a report of the objects that were alive then. In a
** server with a state per request, the objects of closed states count as dead. Orphans are a closed
** state's live samples of native memory, which does not die with the state.
**
**   RS1  at most READER_MAXSTREAMS streams; further states share ReaderState.single, whose samples
**        have no outcome;
**   RS2  each state has a row of ReadProfile.states; at most READER_MAXSTATES rows. All further
**        states share the last row;
**   RS3  at most READER_MAXSTREAMS ended states have orphans; the orphans of further states are
**        dropped.
*/
#ifndef asamp_readerstream_h
#define asamp_readerstream_h

#include "fifo.h"
#include "readerfollow.h"
#include "readprofile.h"

typedef struct ReaderStream {
  uint32_t id;         /* id of the state in the file */
  uint32_t place;      /* index of this stream in ReaderStreams.list */
  uint32_t row;        /* index of the state in ReadProfile.states */
  uint32_t thread;     /* index in ReadProfile.threads + 1 of the OS thread that runs the state; 0:
                          unknown */
  int hidden;          /* 1: the client does not select the state */
  int blind;           /* 1: the stream represents all states beyond READER_MAXSTREAMS */
  int closed;          /* 1: the state has ended */
  uint64_t end;        /* end of the closed state, us since the start */
  uint64_t orphans;    /* after the end of the state: number of its live samples of native memory */
  struct ReaderStream *next;  /* next stream in the list ReaderStreams.closed */
  /* 'period': sampling period, bytes; valid if 'periodset' is 1. 'timeperiod': period of time
     samples, ns; valid if 'timeset' is 1. */
  int periodset, timeset;
  uint64_t period, timeperiod;
  Fifo open;           /* allocation samples not yet known to have died or survived */
  ReaderFollow follow; /* survivors whose death the file records */
  /* Numbers of sampling periods that samples represent, since the previous collection.
     decided   allocation samples whose survival was read
     survived  survivors among these samples */
  uint64_t decided, survived;
  uint64_t allocated;  /* bytes that the state's samples with a known survival represent */
  /* The previous collection of the state. The file stores each collection as differences from the
     previous one. */
  ReadCollection before;
  /* The planned bytes of nurseries in the last record of a minor collection
     (ReadCollection.planned). The next such record stores the difference from this value. */
  uint64_t planned;
  /* Index, among the live survivors in 'follow', of the next survivor for which the file gives the
     path that the current heap walk has found. */
  size_t holderat;
  /* Maps the number of a path of references in the file, + 1, to the path's index in
     ReadProfile.paths, + 1. The file numbers the paths of each state separately. */
  IdMap paths;
} ReaderStream;

/* The streams of all Lua states; a stream is the reader's data of one state. If all bytes are 0,
   there is no stream. */
typedef struct ReaderStreams {
  ReaderStream **list; /* streams of open and closed states, in any order */
  size_t n, size;      /* number of streams, capacity */
  /* First and last element of the linked list of the streams of closed Lua states, in the order in
     which the states ended; NULL: empty. The objects of these states are reported as dead when the
     next state starts. */
  ReaderStream *closed, *last;
  /* Maps state ids + 1 to indexes in 'list'. An entry may be outdated: check the stream's id. */
  IdMap places;
  ReaderStream **orphaned;  /* streams of ended states with live samples of native memory, in
                               any order */
  /* number of elements of 'orphaned', capacity of this array */
  size_t norphaned, orphanedsize;
  /* Maps ids + 1 of ended Lua states with live samples of native memory to indexes in
     'orphaned'. */
  IdMap orphanedplaces;
  IdMap rows;          /* maps state ids + 1 to indexes in ReadProfile.states */
  IdMap threads;       /* maps system numbers of OS threads, + 1, to indexes in
                          ReadProfile.threads */
  size_t rowsize, threadsize;  /* capacities of ReadProfile.states and .threads */
  uint64_t inuse, held;  /* bytes in use and reserved, summed over the selected open states */
} ReaderStreams;

/* Frees a stream made by readerstate_of. */
void readerstream_free (ReaderStream *s);

#endif
