/* SPDX-License-Identifier: MIT */
/*
** Samples whose fate no collection has decided yet, oldest first, and those of
** them that can be freed by hand before (vectors, stacks, buffers), by address.
** Knows neither Lua nor the profile.
**
**   F1  the samples of a block that is watched are a chain: its last one knows the
**       one before. Of a vector that has grown there may be several, as of what a userdata
**       stands for;
**   F2  every sample gets its fate exactly once: from pending_fates.
*/
#ifndef asamp_pending_h
#define asamp_pending_h

#include <stddef.h>
#include <stdint.h>

#include "births.h"
#include "blocks.h"
#include "interval.h"

typedef struct PendingSample {
  const void *owner;	/* object whose life it shares, or NULL */
  const void *block;	/* watched address, or NULL */
  size_t before;	/* watched: the sample of this block before, or BLOCKS_NONE */
  unsigned char died;	/* freed by hand */
  Birth birth;		/* the tracker's */
} PendingSample;

typedef struct Pending {
  PendingSample *samples;
  size_t n, capacity;
  unsigned char *survived;	/* room for as many fates as samples */
  uint32_t *classes;		/* ... and for as many classes */
  Blocks watched;		/* numbers of samples */
} Pending;

void pending_close (Pending *p);

/*
** Empty, and nothing is freed: for a list that was caught in the middle of a
** change, by a fork.
*/
void pending_forget (Pending *p);

/*
** Adds a sample, whose birth is the caller's to set; 'block' non-NULL when it is to be
** watched. Returns 0 when there is no memory (nothing has changed then).
*/
int pending_add (Pending *p, const void *owner, const void *block);

/* A block is freed: returns 1 when it was watched (it is not any more). */
int pending_freed (Pending *p, const void *block);

/* A block has been resized by hand, from 'before' bytes to 'after'. */
typedef struct BlockResized {
  const void *from, *to;	/* its addresses, which may be the same */
  uint64_t before, after;
  Interval *random;		/* draws */
} BlockResized;

/* Does a sample of it live on? What became smaller keeps a part of its samples at random. */
int pending_stays (const BlockResized *r);

/* As pending_freed, but for the samples of what the block keeps, which have its new address. */
int pending_resized (Pending *p, const BlockResized *r);

/* Who knows of an owner whether it is dead, and of what class (0: of none). */
typedef struct PendingJudge {
  void *ud;
  int (*dead) (void *ud, const void *owner);
  uint32_t (*classof) (void *ud, const void *owner);
} PendingJudge;

/* The last fates, oldest first; the vectors are valid until the next sample. */
typedef struct PendingFates {
  size_t n;
  unsigned char *survived;	/* 1 survived, 0 died */
  const uint32_t *classes;	/* of the owners; NULL: none has one */
  const PendingSample *samples;
} PendingFates;

/* The fates of all samples. Empties the list. */
PendingFates pending_fates (Pending *p, const PendingJudge *judge);

#endif
