/* SPDX-License-Identifier: MIT */
/*
** The followed samples of a stream, until their deaths: the reader's copy of the writer's list
** (followed.h), in the same order. A pass goes over the list once, in several calls, and removes
** the dead samples. Used only by the files of reader.h. Invariants:
**
**   RF1  at most READERFOLLOW_MOST samples; others are not followed;
**   RF2  the followed samples are list[0] to list[to - 1], which the pass has kept, and list[at] to
**        list[n - 1], which it has not visited; outside a pass to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  ReadSample sample;   /* count 0: the sample was given up before its outcome (FI1) */
  uint64_t born;       /* ReaderStream.allocated when it was decided */
  uint64_t tag;        /* the client's tag */
  uint32_t holder;     /* path that held it at the last walk that reached it, as
                          ReadPath.parent; 0: unknown */
  int unreached;       /* 1: the last walk did not reach it */
} ReadFollowed;

/* The list. All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;  /* oldest first */
  size_t n, size;      /* number of elements, capacity */
  size_t at, to;       /* positions of the pass (RF2) */
} ReaderFollow;

/*
** Reserves space for one more sample. Returns 0 at the limit (RF1), or if there is not enough
** memory (sets *failed to 1). Ends the pass.
*/
int readerfollow_room (ReaderFollow *f, int *failed);
/* Adds a sample at the end; readerfollow_room must have returned 1 just before. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/* Continues the pass, or starts one: keeps the next n samples, or all that are left. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
/*
** Continues the pass, or starts one: removes the next sample and copies it to *sample. Returns 0 if
** there is none.
*/
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends the pass: keeps the samples that it has not visited. */
void readerfollow_settle (ReaderFollow *f);
/* Frees the list, which is then empty. */
void readerfollow_free (ReaderFollow *f);

#endif
