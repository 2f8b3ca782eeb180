/* SPDX-License-Identifier: MIT */
/*
** The limit of the nursery and its accounts (N1 to N3 and S1 of nursery.h): who
** moves nursery_free, nursery_limit, the sample point or the debt that brings the next
** collection does it here, or in nursery.c and sampling.c by these.
*/
#ifndef luaN_limit_h
#define luaN_limit_h

/* What was allocated since the last time goes into the accounts (N2). */
static inline void luaN_account (global_State *g) {
  luaN_Heap *h = &g->heap;
  g->GCdebt += h->free - h->mark;
  h->allocated += (size_t)(h->free - h->mark);
  h->mark = h->free;
}

/* Bytes until the sample point. */
static inline uint64_t luaN_topoint (const luaN_Heap *h) {
  return h->point - (uint64_t)(uintptr_t)h->free;
}

static inline void luaN_setpoint (luaN_Heap *h, uint64_t distance) {
  h->point = (uint64_t)(uintptr_t)h->free + distance;
}

/* The limit, by where the nursery, the point and the debt are now (N1). */
LUAI_FUNC void luaN_setlimit (global_State *g);

/* Flushes the accounts (N2) and sets the limit anew. */
LUAI_FUNC void luaN_flush (global_State *g);

/* Aligns nursery_free to 16, so that what comes next is aligned. */
LUAI_FUNC void luaN_pad (global_State *g);

/* The nursery gives up its holes: the next allocation takes a new one. */
LUAI_FUNC void luaN_retire (global_State *g);

/* Bytes in use, as the collector knows them now, become those of the state. */
LUAI_FUNC void luaN_recomputelive (global_State *g);

/* A vector that belongs to o has grown by 'change' bytes (below 0: shrunk). */
LUAI_FUNC void luaN_recounted (lua_State *L, GCObject *o, l_mem change);

/* Bytes allocated since the last minor collection. */
LUAI_FUNC size_t luaN_unpaid (global_State *g);

/* The next minor collection comes n bytes earlier (later: n < 0). */
LUAI_FUNC void luaN_shorten (global_State *g, l_mem n);

/* What has been allocated since luaN_debt was 'before' brings no collection nearer, and pays for
   no marking. */
LUAI_FUNC l_mem luaN_debt (global_State *g);
LUAI_FUNC void luaN_uncharge (global_State *g, l_mem before);

/* The next safe point collects, unless the collector is stopped. */
LUAI_FUNC void luaN_hurry (global_State *g);

/* Has the next safe point come early, to call finalizers. luaN_resume gives the nursery the
   bytes back that it had left, and returns whether there were any. */
LUAI_FUNC void luaN_defer (global_State *g);
LUAI_FUNC int luaN_resume (global_State *g);

#endif
