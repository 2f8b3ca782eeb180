/* SPDX-License-Identifier: MIT */
/*
** Samples that survived their first collection, until they die: oldest first,
** and those of them that can be freed by hand, by address. Knows neither Lua
** nor the profile.
**
**   FW1 at most FOLLOWED_MOST samples: 48 bytes each, and 32 to 64 more for one
**       that can be freed by hand. Those of one block are a chain (F1);
**   FW2 every sample leaves the list once: when followed_deaths tells its death.
**       What is still there at the end is alive, as far as anybody has looked;
**   FW3 a dead owner is never asked for again: its address may be another's.
**
** FOLLOWED_MOST bounds what the list adds to the pause of a major collection
** (doc/reference.md has the figure).
*/
#ifndef asamp_followed_h
#define asamp_followed_h

#include <stddef.h>
#include <stdint.h>

#include "blocks.h"
#include "bounds.h"
#include "pending.h"

#define FOLLOWED_NONE	UINT32_MAX

typedef struct FollowedSample {
  const void *owner;	/* object whose life it shares, or NULL */
  const void *block;	/* watched address, or NULL; both NULL: freed by hand */
  uint32_t before;	/* watched: the sample of this block before, or FOLLOWED_NONE */
  uint32_t asked;	/* its place in the last question for holders, from 1 on; 0: it
			   came behind that */
  Birth birth;		/* the tracker's */
} FollowedSample;

/* All zero: empty. */
typedef struct Followed {
  FollowedSample *samples;
  size_t n, capacity;
  size_t nfreed;	/* freed by hand, not told yet */
  uint32_t *runs;	/* room for those of a list that is full */
  Blocks watched;	/* numbers of samples */
} Followed;

/*
** Who died: runs of the list as it was, so many alive, so many dead, and so on
** in turn; none behind the last one that is dead. Valid until the next call.
*/
typedef struct FollowedDeaths {
  const uint32_t *runs;
  size_t n;		/* of runs, even */
} FollowedDeaths;

void followed_close (Followed *f);

/* As pending_forget. */
void followed_forget (Followed *f);

/*
** A sample survived; 'block' non-NULL when it is watched. 0: the list is full,
** or there is no memory (nothing has changed then).
*/
int followed_add (Followed *f, const void *owner, const void *block);

/* A block is freed: returns 1 when it was watched (it is not any more). */
int followed_freed (Followed *f, const void *block);

/* As followed_freed, but for the samples of what the block keeps, which have its new
   address. */
int followed_resized (Followed *f, const BlockResized *r);

/* The deaths of those freed by hand and of those with a dead owner. */
FollowedDeaths followed_deaths (Followed *f, const PendingJudge *judge);

#endif
