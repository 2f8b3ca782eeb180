/* SPDX-License-Identifier: MIT */
/*
** List of the samples whose survival no collection has decided yet, ordered from oldest to newest.
** If a sample's block can be freed explicitly (a vector, a stack, a buffer), a table maps the
** block's address to the sample. Independent of Lua and of the profile.
**
**   F1  the samples of one watched block form a chain from the newest to the oldest. A vector that
**       has grown can have several samples, and so can the external bytes of a userdata;
**   F2  the survival of every sample is decided exactly once, by pending_fates.
*/
#ifndef asamp_pending_h
#define asamp_pending_h

#include <stddef.h>
#include <stdint.h>

#include "births.h"
#include "blocks.h"
#include "interval.h"

/* A sample whose survival no collection has decided yet. */
typedef struct PendingSample {
  const void *owner;	/* Object that the sampled memory belongs to, so that the sample dies with
			   it; for native memory the slot that watches the block (mallocs.h); or
			   NULL. */
  const void *block;	/* Address of the sampled block if its explicit free or resize is to be
			   recorded (a watched block), or NULL. */
  size_t before;	/* If 'block' is watched: index of the block's previous sample, or
			   BLOCKS_NONE. */
  unsigned char died;	/* 1: the sample's memory was freed before a collection decided its
			   survival. */
  Birth birth;		/* Allocation site, set by the tracker. */
} PendingSample;

/* The list of samples whose survival is not decided. All zero: empty. */
typedef struct Pending {
  PendingSample *samples;
  size_t n, capacity;
  unsigned char *survived;	/* Buffer for PendingFates.survived, of 'capacity' elements. */
  uint32_t *classes;		/* Buffer for PendingFates.classes, of 'capacity' elements. */
  Blocks watched;		/* Maps each watched block (its explicit free or resize is recorded)
				   to the index in 'samples' of its newest sample. */
} Pending;

void pending_close (Pending *p);

/*
** Empties the list without freeing its memory. Used in the child of a fork, because another thread
** may have been changing the list at the fork.
*/
void pending_forget (Pending *p);

/*
** Adds a sample; the caller sets its 'birth'. 'block' is non-NULL if it is to be watched. Returns
** 0 and changes nothing if there is not enough memory.
*/
int pending_add (Pending *p, const void *owner, const void *block);

/* Records that a block was freed. If the block was watched, stops watching it and returns 1. */
int pending_freed (Pending *p, const void *block);

/* An explicit resize of a block from 'before' bytes to 'after' bytes. */
typedef struct BlockResized {
  const void *from, *to;	/* Old and new address of the block, which may be equal. */
  uint64_t before, after;
  Interval *random;		/* Random generator that selects the samples that die if the block
				   shrinks. */
} BlockResized;

/*
** Returns 1 if a sample of the resized block stays alive. A sample of a block that grows always
** does. If the block shrinks, a sample dies with a probability equal to the share of the bytes
** that the block loses.
*/
int pending_stays (const BlockResized *r);

/* Records that a block was resized. Its samples move to the new address, except those that die
   (pending_stays returns 0). If there is not enough memory, all its samples count as freed. Returns
   1 if the block was watched. */
int pending_resized (Pending *p, const BlockResized *r);

/* Callbacks that decide the survival and the classes of samples. 'dead' returns 1 if the owner is
   dead. 'classof' returns the owner's class, or 0 for none; followed_deaths does not call it. */
typedef struct PendingJudge {
  void *ud;
  int (*dead) (void *ud, const void *owner);
  uint32_t (*classof) (void *ud, const void *owner);
} PendingJudge;

/* The outcomes of n samples, oldest first: whether each survived, and its class. The vectors are
   valid until the next sample is added. */
typedef struct PendingFates {
  size_t n;
  unsigned char *survived;	/* 1: survived, 0: died; 2, set by trackoutcomes.c: survived, but
				   its death will not be reported because the list of followed
				   samples is full. */
  const uint32_t *classes;	/* Classes of the owners, 0 for none; NULL: no owner has a
				   class. */
  const PendingSample *samples;
} PendingFates;

/* Decides the survival of all samples and empties the list. */
PendingFates pending_fates (Pending *p, const PendingJudge *judge);

#endif
