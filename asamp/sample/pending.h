/* SPDX-License-Identifier: MIT */
/*
** List of the samples whose survival no collection has decided yet, oldest first. A hash table maps
** the addresses of watched blocks (blocks whose free must be noticed) to their samples.
**
**   F1  the samples of one block form a chain (PendingSample.before). A block has several samples
**       if it was sampled again when it grew. The order has no meaning: a resize of the block
**       reverses the chain;
**   F2  whether a sample survives is decided once, by pending_fates, which also removes it from the
**       list.
*/
#ifndef asamp_pending_h
#define asamp_pending_h

#include <stddef.h>
#include <stdint.h>

#include "births.h"
#include "blocks.h"
#include "interval.h"

/* A sample whose survival is not decided yet. */
typedef struct PendingSample {
  const void *owner;	/* Object with which the sampled memory dies; for native memory, the
                           slot that watches the block (mallocs.h); or NULL. */
  const void *block;	/* Sampled block whose free or resize is watched, or NULL. */
  size_t before;	/* Index in Pending.samples of the next sample in the block's chain;
                           BLOCKS_NONE: this sample is the last one. */
  unsigned char died;	/* 1: the memory was freed explicitly. */
  Birth birth;		/* Allocation site. */
} PendingSample;

/* The list of the samples whose survival is not decided yet. All zero: an empty list. */
typedef struct Pending {
  PendingSample *samples;
  size_t n, capacity;
  unsigned char *survived;	/* Buffer for PendingFates.survived, of 'capacity' elements. */
  uint32_t *classes;		/* Buffer for PendingFates.classes, of 'capacity' elements. */
  Blocks watched;		/* Maps each watched block to the index of the first sample in its
                                   chain. */
} Pending;

void pending_close (Pending *p);

/* Empties the list in the child of a fork. Frees no memory: another thread may have been changing
   the list when the program forked. */
void pending_forget (Pending *p);

/* Adds a sample; the caller sets 'birth'. Watches 'block' unless it is NULL. Returns 0 if out of
   memory. */
int pending_add (Pending *p, const void *owner, const void *block);

/* Called when a block was freed: marks the block's samples as dead and stops watching the block.
   Returns 1 if the block was watched. */
int pending_freed (Pending *p, const void *block);

/* The resize of a block from 'before' to 'after' bytes. */
typedef struct BlockResized {
  const void *from, *to;	/* Old and new address of the block, which may be equal. */
  uint64_t before, after;
  Interval *random;		/* Random generator of pending_stays. */
} BlockResized;

/* Returns 1 if a sample of the resized block stays alive: always if the block grows. If it shrinks,
   returns 1 with the probability after / before, because the sample represents a random byte of the
   block. */
int pending_stays (const BlockResized *r);

/* Called when a block was resized: gives each sample of the block the new address, or marks it as
   dead, as pending_stays decides. If out of memory, marks all samples of the block as dead. Returns
   1 if the block was watched. */
int pending_resized (Pending *p, const BlockResized *r);

/* Callbacks of pending_fates and followed_deaths. 'owner' is the object with which a sample's
   memory dies (PendingSample.owner).
   dead     returns 1 if the owner is dead
   classof  returns the number of the owner's class; 0: none */
typedef struct PendingJudge {
  void *ud;
  int (*dead) (void *ud, const void *owner);
  uint32_t (*classof) (void *ud, const void *owner);
} PendingJudge;

/* Result of a collection for the n samples taken before it, oldest first. Valid until the next
   sample is added. */
typedef struct PendingFates {
  size_t n;
  /* Outcome of each sample. 0: died. 1: survived. 2: survived, but its death will not be reported,
     because the list of survivors is full. */
  unsigned char *survived;
  const uint32_t *classes;	/* The class number of each sample's owner; 0: no class. NULL: all
                                   are 0. */
  const PendingSample *samples;
} PendingFates;

/* Decides for each sample in the list whether it has survived the collection, and empties the list.
   Returns the outcomes. */
PendingFates pending_fates (Pending *p, const PendingJudge *judge);

#endif
