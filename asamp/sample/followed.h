/* SPDX-License-Identifier: MIT */
/*
** List of the samples that survived their first collection, until they die, oldest first, with
** a table of their explicitly freeable blocks by address. Independent of Lua and of the
** profile.
**
**   FW1  at most FOLLOWED_MOST samples: 48 bytes each, and 32 to 64 more for one whose block
**        can be freed explicitly. Samples of one block form a chain (F1);
**   FW2  every sample leaves the list once, when followed_deaths reports its death. Samples
**        still listed at the end were alive at the last check;
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

#define FOLLOWED_NONE	UINT32_MAX	/* no earlier sample */

/* A followed sample. */
typedef struct FollowedSample {
  const void *owner;	/* Object, or slot of native memory (mallocs.h), whose lifetime the
			   sample shares; or NULL. */
  const void *block;	/* Address of its watched block, or NULL. If 'owner' is NULL, too:
			   freed explicitly. */
  uint32_t before;	/* If watched: the previous sample of the block, or FOLLOWED_NONE. */
  uint32_t queried;	/* Index + 1 in the last query for holders; 0: added after that query. */
  Birth birth;		/* Allocation site, set by the tracker. */
} FollowedSample;

/* The list. All zero: empty. */
typedef struct Followed {
  FollowedSample *samples;
  size_t n, capacity;	/* Number of samples, and of allocated elements. */
  size_t nfreed;	/* Number of samples freed explicitly and not yet reported. */
  uint32_t *runs;	/* Buffer for FollowedDeaths.runs of 'capacity' samples. */
  Blocks watched;	/* Watched blocks, by index in 'samples'. */
} Followed;

/*
** The deaths among the listed samples as run lengths: a number of live samples, then a number
** of dead ones, and so on; the last run is of dead ones. Valid until the next followed_deaths or
** followed_add.
*/
typedef struct FollowedDeaths {
  const uint32_t *runs;
  size_t n;		/* number of runs, even */
} FollowedDeaths;

void followed_close (Followed *f);

/* Empties the list without freeing its memory, as pending_forget. */
void followed_forget (Followed *f);

/*
** Adds a sample; the caller sets its 'birth'. 'block' is non-NULL if it is to be watched. Returns 0
** and changes nothing if the list is full or there is not enough memory.
*/
int followed_add (Followed *f, const void *owner, const void *block);

/* Notes that a block was freed. If the block was watched, ends the watch and returns 1. */
int followed_freed (Followed *f, const void *block);

/*
** Notes that a block was resized: those of its samples that stay (pending_stays) move to its new
** address; without memory, all count as freed. Returns as followed_freed.
*/
int followed_resized (Followed *f, const BlockResized *r);

/* Removes and returns the samples that were freed explicitly or have a dead owner. */
FollowedDeaths followed_deaths (Followed *f, const PendingJudge *judge);

#endif
