/* SPDX-License-Identifier: MIT */
/*
** Samples whose fate no collection has decided yet, oldest first, and an index
** of those that can be freed by hand before (vectors, stacks, buffers), by
** address. Knows neither Lua nor the profile.
**
**   F1  a block is in the index at most once, while it is watched;
**   F2  every sample gets its fate exactly once: from pending_fates.
*/
#ifndef asamp_pending_h
#define asamp_pending_h

#include <stddef.h>

typedef struct PendingSample {
  const void *owner;	/* object whose life it shares, or NULL */
  const void *block;	/* watched address, or NULL */
  unsigned char died;	/* freed by hand */
} PendingSample;

typedef struct Pending {
  PendingSample *samples;
  size_t n, capacity;
  unsigned char *survived;	/* room for as many fates as samples */
  size_t *index;		/* open addressing: number of a sample + 1, 0 free */
  size_t indexsize;		/* a power of two, or 0 */
  size_t nwatched;
  size_t ntombs;		/* slots of the index that were given up */
} Pending;

void pending_close (Pending *p);

/*
** Adds a sample; 'block' non-NULL when it is to be watched. Returns 0 when
** there is no memory (nothing has changed then).
*/
int pending_add (Pending *p, const void *owner, const void *block);

/* A block is freed: returns 1 when it was watched (it is not any more). */
int pending_freed (Pending *p, const void *block);

/*
** The fates of all samples, 1 survived, 0 died: 'dead' is asked for every
** owner. Empties the list. The vector is valid until the next call.
*/
const unsigned char *pending_fates (Pending *p, size_t *n,
                                    int (*dead) (void *ud, const void *owner),
                                    void *ud);

#endif
