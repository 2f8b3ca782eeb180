/* SPDX-License-Identifier: MIT */
/*
** List of the followed samples: those that survived their first collection. A sample is listed
** until it dies. The list is ordered from oldest to newest. If a sample's block can be freed
** explicitly, a table maps the block's address to the sample. Independent of Lua and of the
** profile.
**
**   FW1  at most FOLLOWED_MOST samples. Each takes 48 bytes, and 32 to 64 more if its block can be
**        freed explicitly. The samples of one block form a chain (F1 in pending.h);
**   FW2  a sample leaves the list only when followed_deaths reports its death. Samples still
**        listed at the end of the session were alive at the last check;
**   FW3  a dead owner is never checked again: its address may be reused.
**
** FOLLOWED_MOST bounds the time that the list adds to the pause of a major collection (figure
** in doc/reference.md).
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

/* A sample that survived its first collection, and whose death is to be reported. */
typedef struct FollowedSample {
  const void *owner;	/* Object that the sampled memory belongs to, so that the sample dies with
			   it; for native memory the slot that watches the block (mallocs.h); or
			   NULL. */
  const void *block;	/* Address of the sampled block if its explicit free or resize is to be
			   recorded (a watched block), or NULL. If both 'owner' and 'block' are
			   NULL, the sample was freed explicitly. */
  uint32_t before;	/* If 'block' is watched: index of the block's previous sample, or
			   FOLLOWED_NONE. */
  uint32_t queried;	/* Position + 1 of the sample in the last search for the objects that keep
			   samples alive (trackholders.c); 0: the sample was added after that search
			   had started. */
  Birth birth;		/* Allocation site, set by the tracker. */
} FollowedSample;

/* The list of followed samples, which have survived a collection and are not known to be dead. All
   zero: empty. */
typedef struct Followed {
  FollowedSample *samples;
  size_t n, capacity;	/* Number of samples in the list; number of allocated elements. */
  size_t nfreed;	/* Number of samples freed explicitly and not yet reported. */
  uint32_t *runs;	/* Buffer for FollowedDeaths.runs, large enough for 'capacity' samples. */
  Blocks watched;	/* Maps each watched block (its explicit free or resize is recorded) to the
			   index in 'samples' of its newest sample. */
} Followed;

/*
** The deaths among the samples of the list, encoded as run lengths: a number of live samples, then
** a number of dead ones, and so on. The last run is one of dead samples. Valid until the next call
** of followed_deaths or followed_add.
*/
typedef struct FollowedDeaths {
  const uint32_t *runs;
  size_t n;		/* number of runs, even */
} FollowedDeaths;

void followed_close (Followed *f);

/* Empties the list without freeing its memory, in the child of a fork (pending_forget). */
void followed_forget (Followed *f);

/*
** Adds a sample; the caller sets its 'birth'. 'block' is non-NULL if it is to be watched. Returns 0
** and changes nothing if the list is full or there is not enough memory.
*/
int followed_add (Followed *f, const void *owner, const void *block);

/* Records that a block was freed. If the block was watched, stops watching it and returns 1. */
int followed_freed (Followed *f, const void *block);

/* Records that a block was resized. Its samples move to the new address, except those that die
   (pending_stays returns 0). If there is not enough memory, all its samples count as freed. Returns
   1 if the block was watched. */
int followed_resized (Followed *f, const BlockResized *r);

/* Removes and returns the samples that were freed explicitly or have a dead owner. */
FollowedDeaths followed_deaths (Followed *f, const PendingJudge *judge);

#endif
