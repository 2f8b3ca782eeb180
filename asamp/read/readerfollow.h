/* SPDX-License-Identifier: MIT */
/*
** The followed samples, until their deaths: the reader's copy of the writer's list
** (followed.h), in the same order. Used by the reader only. Invariants:
**
**   RF1  at most READERFOLLOW_MOST samples; others are not followed;
**   RF2  the followed samples are list[0] to list[to - 1] and list[at] to list[n - 1]; between
**        two walks to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "readprofile.h"

typedef struct ReadFollowed {
  ReadSample sample;   /* count 0: the sample was given up (fifo.h) */
  uint64_t born;       /* bytes that samples up to this one represent */
  uint64_t tag;        /* the client's tag */
  uint32_t holder;     /* path that holds it (ReadProfile.paths, from 1 on), by the last walk
                          that reached it; 0: unknown */
  int unreached;       /* 1: there was a later walk, which did not reach it */
} ReadFollowed;

/* The list. All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;
  size_t n, size;
  size_t at, to;       /* positions of a walk */
} ReaderFollow;

/*
** Reserves space for one more. Returns 0 at the limit (RF1), or without memory (sets *failed).
** Ends a walk.
*/
int readerfollow_room (ReaderFollow *f, int *failed);
/* Adds a sample; space must be reserved. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/*
** Continue a walk: readerfollow_stay keeps the next n samples; readerfollow_die removes the
** next one, and returns 0 if there is none.
*/
void readerfollow_stay (ReaderFollow *f, uint64_t n);
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends a walk, if one is running. */
void readerfollow_settle (ReaderFollow *f);
void readerfollow_free (ReaderFollow *f);

#endif
