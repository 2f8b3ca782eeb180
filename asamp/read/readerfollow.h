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

#include "readprofile.h"

typedef struct ReadFollowed {
  ReadSample sample;   /* count 0: nothing is known of it any more (fifo.h) */
  uint64_t born;       /* bytes that samples up to it stand for */
  uint64_t tag;        /* the client's */
  uint32_t holder;     /* path that holds it (ReadProfile.paths, from 1 on); 0: not told */
} ReadFollowed;

/* All zero: empty. */
typedef struct ReaderFollow {
  ReadFollowed *list;
  size_t n, size;
  size_t at, to;       /* of a walk */
} ReaderFollow;

/* Makes room for one more; 0: RF1, or no memory (*failed is set). Ends a walk. */
int readerfollow_room (ReaderFollow *f, int *failed);
/* Puts one; there is room. */
void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample);

/* A walk goes on: 'n' samples stay; the next one is dead, 0: there is none. */
void readerfollow_stay (ReaderFollow *f, uint64_t n);
int readerfollow_die (ReaderFollow *f, ReadFollowed *sample);

/* Ends a walk, if there is one. */
void readerfollow_settle (ReaderFollow *f);
void readerfollow_free (ReaderFollow *f);

#endif
