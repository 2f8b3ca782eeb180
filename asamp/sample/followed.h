/* SPDX-License-Identifier: MIT */
/*
** List, oldest first, of the samples (sampled blocks of memory) that survived their first
** collection and are still alive.
**
**   FW1  the list has at most FOLLOWED_MOST samples. This bounds the time that it adds to the pause
**        of a major collection;
**   FW2  a sample is removed from the list only by followed_deaths, which reports its death;
**   FW3  after an owner (the object with which a sample's memory dies) was found dead, its address
**        is not checked again, because another object may have it.
*/
#ifndef asamp_followed_h
#define asamp_followed_h

#include <stddef.h>
#include <stdint.h>

#include "blocks.h"
#include "bounds.h"
#include "pending.h"

#define FOLLOWED_NONE	UINT32_MAX	/* value of FollowedSample.before: the block has no earlier
                                           sample */

/* A sample that survived its first collection. */
typedef struct FollowedSample {
  const void *owner;	/* Object with which the sampled memory dies; for native memory, the
                           slot that watches the block (mallocs.h). NULL: none, or the block was
                           freed. */
  /* Sampled block, if the tracker must notice when it is freed or resized between collections; else
     NULL. After such a block was freed, both 'block' and 'owner' are NULL. */
  const void *block;
  uint32_t before;	/* Index of the previous sample of the same block, or FOLLOWED_NONE. */
  uint32_t queried;	/* 1 + index of the sample's owner in the last search for the references
                           that keep samples alive (trackholders.c). 0: the sample was added after
                           that search. */
  Birth birth;		/* Allocation site and time. */
} FollowedSample;

/* The list of the samples that survived their first collection. All zero: an empty list. */
typedef struct Followed {
  FollowedSample *samples;
  size_t n, capacity;	/* 'n': number of samples. 'capacity': number of allocated elements of
                           'samples'. */
  size_t nfreed;	/* Number of samples in the list whose block was freed since the last
                           followed_deaths. */
  uint32_t *runs;	/* Buffer for the result of followed_deaths, large enough for 'capacity'
                           samples. */
  Blocks watched;	/* Maps each watched block to the index of its newest sample. */
} Followed;

/* The deaths among the listed samples, oldest first, as run lengths: n samples alive, n dead, n
   alive, ..., n dead. Valid until the next call of followed_deaths or followed_add. */
typedef struct FollowedDeaths {
  const uint32_t *runs;
  /* number of elements of 'runs'; even, because each number of live samples is followed by one of
     dead samples */
  size_t n;
} FollowedDeaths;

void followed_close (Followed *f);

/* Empties the list in the child of a fork. Frees no memory, because another thread may have been
   changing the list when the program forked. */
void followed_forget (Followed *f);

/* Adds a sample; the caller sets 'birth'. Watches 'block' unless it is NULL. Returns 0 if the
   list is full or there is not enough memory. */
int followed_add (Followed *f, const void *owner, const void *block);

/* Called when a block was freed: marks the block's samples as dead and stops watching the block.
   Returns 1 if the block was watched. */
int followed_freed (Followed *f, const void *block);

/* Called when a block was resized. For each of the block's samples, stores the new address if
   pending_stays returns 1; otherwise marks the sample as dead. If out of memory, marks all of them
   as dead. Returns 1 if the block was watched. */
int followed_resized (Followed *f, const BlockResized *r);

/* Removes the samples whose block was freed or whose owner is dead according to judge->dead.
   Returns the run lengths of remaining and removed samples. */
FollowedDeaths followed_deaths (Followed *f, const PendingJudge *judge);

#endif
