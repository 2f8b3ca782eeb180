/* SPDX-License-Identifier: MIT */
/*
** List of the samples whose survival no collection has decided yet, oldest first, with a table
** of their explicitly freeable blocks (vectors, stacks, buffers) by address. Independent of Lua
** and of the profile.
**
**   F1  the samples of one watched block form a chain from the newest to the oldest. A vector
**       that has grown may have several samples, and so may the external bytes of a userdata;
**   F2  the survival of every sample is decided exactly once, by pending_fates.
*/
#ifndef asamp_pending_h
#define asamp_pending_h

#include <stddef.h>
#include <stdint.h>

#include "births.h"
#include "blocks.h"
#include "interval.h"

/* An undecided sample. */
typedef struct PendingSample {
  const void *owner;	/* Object, or slot of native memory (mallocs.h), whose lifetime the
			   sample shares; or NULL. */
  const void *block;	/* Address of its watched block, or NULL. */
  size_t before;	/* If watched: index of the previous sample of the block, or BLOCKS_NONE. */
  unsigned char died;	/* 1: its memory was freed before the decision. */
  Birth birth;		/* Allocation site, set by the tracker. */
} PendingSample;

/* The list. All zero: empty. */
typedef struct Pending {
  PendingSample *samples;
  size_t n, capacity;
  unsigned char *survived;	/* Buffer for the outcomes, with the capacity of 'samples'. */
  uint32_t *classes;		/* Buffer for the classes, with the capacity of 'samples'. */
  Blocks watched;		/* Watched blocks, by index in 'samples'. */
} Pending;

void pending_close (Pending *p);

/*
** Empties the list without freeing its memory, because a fork may have caught it in the middle
** of a change.
*/
void pending_forget (Pending *p);

/*
** Adds a sample; the caller sets its 'birth'. 'block' is non-NULL if it is to be watched. Returns
** 0 and changes nothing if there is not enough memory.
*/
int pending_add (Pending *p, const void *owner, const void *block);

/* Notes that a block was freed. If the block was watched, ends the watch and returns 1. */
int pending_freed (Pending *p, const void *block);

/* An explicit resize of a block from 'before' bytes to 'after' bytes. */
typedef struct BlockResized {
  const void *from, *to;	/* Old and new address, which may be equal. */
  uint64_t before, after;
  Interval *random;		/* Source of random numbers. */
} BlockResized;

/*
** Decides if a sample of the block remains alive, and returns 1 if so. If the block shrinks, each
** of its samples dies with a probability equal to the share of the bytes that the block loses.
*/
int pending_stays (const BlockResized *r);

/*
** Notes that a block was resized: those of its samples that stay (pending_stays) move to its new
** address; without memory, all count as freed. Returns as pending_freed.
*/
int pending_resized (Pending *p, const BlockResized *r);

/* Callbacks: 'dead' returns 1 if the owner is dead, 'classof' its class (0: none). followed_deaths
   does not call 'classof'. */
typedef struct PendingJudge {
  void *ud;
  int (*dead) (void *ud, const void *owner);
  uint32_t (*classof) (void *ud, const void *owner);
} PendingJudge;

/* The outcomes, oldest sample first. The vectors are valid until the next sample is added. */
typedef struct PendingFates {
  size_t n;
  unsigned char *survived;	/* 1: survived, 0: died. trackoutcomes.c sets 2 (TrackerClient). */
  const uint32_t *classes;	/* Classes of the owners; NULL: no owner has one. */
  const PendingSample *samples;
} PendingFates;

/* Decides the survival of all samples and empties the list. */
PendingFates pending_fates (Pending *p, const PendingJudge *judge);

#endif
