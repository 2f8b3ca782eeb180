/* SPDX-License-Identifier: MIT */
/* Keeps the bit set of watched blocks (trackwatch.h). */
#include "trackwatch.h"
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#define WATCHBYTES(log2)	(((size_t)1 << (log2)) / 8)	/* bytes of 2^log2 bits */
/* The bits of a block that is no longer watched stay set until trackwatch_clean rebuilds the bit
   set: when the number of such blocks is at least this number plus a quarter of the number of
   watched blocks, or when no block is watched. */
#define MAX_STALE_BLOCKS	64
/* If fewer than this number of blocks are watched when the bit set is rebuilt, only
   2^TRACKWATCH_FEWLOG of its bits are used. */
#define FEW_BLOCKS	128

/* Returns a mask with the second of the two bits that mark a watched block. Both bits are in the
   same word of the bit set. */
static uint64_t secondbit (const void *block) {
  return UINT64_C(1) << ((uint64_t)(uintptr_t)block * UINT64_C(0xD6E8FEB86659FD93) >> 58);
}

/* Returns 1 if the block is probably watched: the second of its two bits in t->watching is set.
   (The Lua core has checked the first bit. Other blocks may share the bits.) */
static int isprobable (const Tracker *t, const void *block) {
  return (t->watching[luaN_watchbit(block, t->watchlog) / 64] & secondbit(block)) != 0;
}

int trackwatch_ready (Tracker *t) {
  if (t->watching == NULL) t->watching = calloc(1, WATCHBYTES(TRACKER_WATCHLOG));
  return t->watching != NULL;
}

void trackwatch_add (Tracker *t, lua_State *L, const void *block) {
  unsigned bit = luaN_watchbit(block, t->watchlog);
  t->watching[bit / 64] |= UINT64_C(1) << bit % 64 | secondbit(block);
  t->nwatching++;
  luaN_watch(L, t->watching, t->watchlog);
}

void trackwatch_clean (Tracker *t, lua_State *L) {
  size_t i, n = t->followed.watched.n;
  if (t->nwatching == 0 || (n > 0 && t->nwatching < n + n / 4 + MAX_STALE_BLOCKS)) return;
  memset(t->watching, 0, WATCHBYTES(t->watchlog));
  t->nwatching = 0;
  t->watchlog = (n < FEW_BLOCKS) ? TRACKWATCH_FEWLOG : TRACKER_WATCHLOG;
  luaN_watch(L, NULL, 0);
  for (i = 0; n > 0 && i < t->followed.n; i++) {
    const FollowedSample *s = &t->followed.samples[i];
    if (s->block != NULL && s->before == FOLLOWED_NONE)  /* the last one in the block's chain */
      trackwatch_add(t, L, s->block);
  }
}

void trackwatch_freed (void *ud, lua_State *L, const void *block) {
  Tracker *t = ud;
  (void)L;
  if (!isprobable(t, block)) return;
  t->busy++;
  pending_freed(&t->pending, block);  /* a block may have samples in both lists, t->pending and
                                         t->followed */
  followed_freed(&t->followed, block);
  t->busy--;
}

void trackwatch_resized (void *ud, lua_State *L, const void *from, const void *to, uint64_t before,
                     uint64_t after) {
  Tracker *t = ud;
  BlockResized r = {from, to, before, after, &t->copyinterval};
  if (!isprobable(t, from)) return;
  t->busy++;
  if (pending_resized(&t->pending, &r) + followed_resized(&t->followed, &r) > 0)
    trackwatch_add(t, L, to);
  t->busy--;
}

void trackwatch_reset (Tracker *t) {
  if (t->nwatching > 0) memset(t->watching, 0, WATCHBYTES(t->watchlog));
}
