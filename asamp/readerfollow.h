/* SPDX-License-Identifier: MIT */
/*
** Samples that survived, until their deaths are told: the reader's copy of the
** writer's list (followed.h), in the same order. Used by the reader alone.
** Invariants:
**   RF1 at most READERFOLLOW_MOST samples; what finds no room is not followed;
**   RF2 list[0] to list[to - 1] and list[at] to list[n - 1] are what is followed;
**       between two walks to = at = 0.
*/
#ifndef asamp_readerfollow_h
#define asamp_readerfollow_h

#include "reader.h"

#define READERFOLLOW_MOST	(1u << 20)

typedef struct ReadFollowed {
  ReadSample sample;   /* count 0: nothing is known of it any more (fifo.h) */
  uint64_t born;       /* bytes that samples up to it stand for */
  uint64_t tag;        /* the client's */
} ReadFollowed;

/* All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;
  size_t n, size;
  size_t at, to;       /* of a walk */
} ReaderFollow;

/* The place for one more, or NULL: RF1, or no memory (*failed is set). */
ReadFollowed *readerfollow_add (ReaderFollow *f, int *failed);

/* A walk goes on: 'n' samples stay; the next one is dead, or NULL at the end. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
const ReadFollowed *readerfollow_die (ReaderFollow *f);

/* Ends a walk, if there is one. */
void readerfollow_settle (ReaderFollow *f);
void readerfollow_free (ReaderFollow *f);

#endif
