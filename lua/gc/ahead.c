/* SPDX-License-Identifier: MIT */
/*
** Weak tables in slices (ahead.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"
#include "ltable.h"

#include "ahead.h"
#include "traverse.h"
#include "vec.h"
#include "weak.h"

/* A smaller table is left to the atomic step. */
#define MIN_SLOTS(c)	(luaN_slicestress(c) != 0 ? 4u : 256u)

/* Cost of a slot, in bytes looked at by a slice of marking. */
#define SLOT_COST	48u

/* Doubtful entries are looked at again if at least one of so many had something to mark this
   time, and not more than so many times. */
#define MIN_RESOLVED_PART	512u
#define MAX_PASSES	32u

/* Slots between the one that is looked at and the one that is fetched. */
#define PREFETCH_DISTANCE	12u


/* {== one slot ========================================================= */

/* Slot i of t. Marks what it holds; returns whether the rest may be dead. */
static int look (global_State *g, Table *t, int kind, unsigned asize, unsigned i) {
  Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  const TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  int unresolved = 0;
  if (isempty(v)) {
    if (n != NULL && keyiscollectable(n)) setdeadkey(n);
    return 0;
  }
  if (n != NULL) {
    if (kind & LUAN_EPHEMERON) unresolved = luaN_iskeygone(g, n);
    else if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  }
  if (kind & LUAN_WEAKVALUES) return luaN_isgone(g, v) || unresolved;
  if (!unresolved) luaN_markvalue(g, v);
  return unresolved;
}

/* }===================================================================== */


/* {== the lists ========================================================= */

typedef struct Entry {
  Table *t;
  int kind;		/* of t; it may be strong for the time being */
  unsigned asize, i;	/* of its array part; of the slot */
  Node *n;		/* NULL: in the array part */
  TValue *v;
} Entry;

static const Entry noentry = {NULL, 0, 0, 0, NULL, NULL};


/* What tells whether o is dead: its head, and before that the mark of its line
   (luaN_isunseen). */
static inline void fetchmarks (global_State *g, const GCObject *o, int tag) {
  if (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL)) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    __builtin_prefetch(&b->marks[luaN_lineof(b, o)]);
  }
  __builtin_prefetch(o);
}


/* Prefetches what the entries behind k refer to, as far as they are of the table of e. */
static inline void fetch (global_State *g, const luaN_Vec *d, size_t k, const Entry *e) {
  unsigned i;
  if (k + 2 * PREFETCH_DISTANCE < d->n) __builtin_prefetch(d->a[k + 2 * PREFETCH_DISTANCE]);
  if (k + PREFETCH_DISTANCE < d->n &&
      luaN_slotof(e->t, e->asize, d->a[k + PREFETCH_DISTANCE], &i)) {
    const TValue *v = (i < e->asize) ? &e->t->array[i] : NULL;
    const Node *n = (v == NULL) ? gnode(e->t, i - e->asize) : NULL;
    if (n != NULL && (e->kind & LUAN_EPHEMERON)) {
      if (keyiscollectable(n)) fetchmarks(g, gckey(n), keytt(n));
    }
    else {
      if (v == NULL) v = gval(n);
      if (iscollectable(v)) fetchmarks(g, gcvalue(v), rawtt(v));
    }
  }
}


static void enter (global_State *g, Table *t, Entry *e) {
  e->t = t;
  e->kind = luaN_weakness(g, t);
  e->asize = luaN_asize(t);
}


/* Entry k of the list into *e, which still has the one before. 0: it is the table of those that
   follow, or the slot is no longer the table's, or the table will be gone through as a
   whole. 'ahead': it will be asked who is dead. */
static inline int entryat (global_State *g, const luaN_Vec *d, size_t k, int ahead, Entry *e) {
  void *slot = d->a[k];
  unsigned i;
  if (luaN_kindof(slot) != 0) {
    enter(g, luaN_tableof(slot), e);
    return 0;
  }
  if (ahead) fetch(g, d, k, e);
  if (!(e->t->flags & LUAN_SCANNED) || !luaN_slotof(e->t, e->asize, slot, &i)) return 0;
  e->i = i;
  e->n = (i < e->asize) ? NULL : gnode(e->t, i - e->asize);
  e->v = (e->n == NULL) ? &e->t->array[i] : gval(e->n);
  return 1;
}


/* Entry k, of table t, stays in the list, of which *kept words do so far, the last of table
   *keptof. There is room: k is behind t's own word. */
static inline void keep (luaN_Vec *d, size_t k, const Table *t, const Table **keptof,
                         size_t *kept) {
  void *slot = d->a[k];
  if (t != *keptof) d->a[(*kept)++] = luaN_tagged(t, 1);
  *keptof = t;
  d->a[(*kept)++] = slot;
  lua_assert(*kept <= k + 1);
}


/* }===================================================================== */


/* {== slices =========================================================== */

static unsigned slotsof (const Table *t) {
  return luaN_asize(t) + (unsigned)sizenode(t);
}


static void *slotat (const Table *t, unsigned asize, unsigned i) {
  return (i < asize) ? (void *)&t->array[i] : (void *)gval(gnode(t, i - asize));
}


/* At most n slots of t from c->weak.slot on. Returns 1 when t is done, or the list has no
   room: then the atomic step looks at all of t. */
static int looktable (global_State *g, Table *t, int kind, unsigned n) {
  luaN_Gc *c = &g->heap.gc;
  unsigned asize = luaN_asize(t), slots = slotsof(t), i = c->weak.slot;
  unsigned end = (n < slots - i) ? i + n : slots;
  int list = (kind == LUAN_EPHEMERON) ? LUAN_DOUBTKEYS : LUAN_DOUBTVALUES, isfirst = 1;
  for (; i < end; i++) {
    if (i + PREFETCH_DISTANCE < slots) {
      const TValue *v = (const TValue *)slotat(t, asize, i + PREFETCH_DISTANCE);
      if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
    }
    if (!look(g, t, kind, asize, i)) continue;
    if (!luaN_listdoubt(g, list, t, slotat(t, asize, i), isfirst)) return 1;
    isfirst = 0;
  }
  c->weak.slot = end;
  if (end < slots) return 0;
  t->flags |= LUAN_SCANNED;
  luaN_begindoubting(c);
  return 1;
}


/* The next of the discovered tables, or a part of it. Returns the cost. */
static size_t looknext (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  void **p = &c->weak.inmajor.a[c->weak.next];
  Table *t = luaN_tableof(*p);
  unsigned from, n = (unsigned)(bytes / SLOT_COST) + 1;
  int kind = luaN_weakness(g, t);
  if (kind != LUAN_STRONG && !(t->flags & LUAN_SCANNED) && slotsof(t) >= MIN_SLOTS(c) &&
      !luaN_islogged(t)) {
    if (kind != luaN_kindof(*p)) c->weak.slot = 0;
    *p = luaN_tagged(t, kind);
    from = c->weak.slot;
    if (!looktable(g, t, kind, n)) return (c->weak.slot - from) * SLOT_COST;
    n = slotsof(t) - from;
  }
  else n = 1;
  c->weak.next++;
  c->weak.slot = 0;
  return n * SLOT_COST;
}


/* A list has been looked at again. That both have become shorter is no reason to go on: the
   program may have removed entries, given them other values, or moved them by a new key. */
static void passed (luaN_Weak *w) {
  size_t n;
  w->doubtful[w->again].n = w->doubtkept;
  w->doubt = w->doubtkept = 0;
  w->doubtof = NULL;
  w->keptof = NULL;
  if (++w->again < LUAN_DOUBTS) return;
  n = w->doubtful[LUAN_DOUBTKEYS].n + w->doubtful[LUAN_DOUBTVALUES].n;
  w->doubting = (w->resolved > n / MIN_RESOLVED_PART && ++w->passes < MAX_PASSES);
  w->again = 0;
  w->resolved = 0;
}


/* Takes entries that are no longer doubtful off a list. Returns the cost. */
static size_t lookagain (global_State *g, size_t bytes) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[w->again];
  Entry e = noentry;
  size_t done = 0;
  if (w->doubtof != NULL) enter(g, w->doubtof, &e);
  for (; w->doubt < d->n && done < bytes; w->doubt++, done += SLOT_COST) {
    l_mem before = g->heap.gc.mark.reached;
    if (entryat(g, d, w->doubt, 1, &e) &&
        (e.kind == LUAN_STRONG || look(g, e.t, e.kind, e.asize, e.i)))
      keep(d, w->doubt, e.t, &w->keptof, &w->doubtkept);
    if (g->heap.gc.mark.reached != before) w->resolved++;
  }
  w->doubtof = e.t;
  if (w->doubt >= d->n) passed(w);
  return done + 1;
}


int luaN_lookahead (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  size_t done = 0;
  while (done < bytes) {
    if (c->weak.next < c->weak.inmajor.n) done += looknext(g, bytes - done);
    else if (c->weak.doubting) done += lookagain(g, bytes - done);
    else return c->mark.old.n == 0;  /* or marking goes on */
  }
  return 0;
}

/* }===================================================================== */


/* {== the atomic step ================================================== */

size_t luaN_resolvedoubtful (global_State *g) {
  luaN_Vec *d = &g->heap.gc.weak.doubtful[LUAN_DOUBTKEYS];
  Entry e = noentry;
  const Table *keptof = NULL;
  size_t k, resolved = 0, kept = 0;
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n;
  for (k = 0; k < d->n; k++) {
    if (!entryat(g, d, k, 1, &e)) continue;
    if (e.kind == LUAN_EPHEMERON && !isempty(e.v) &&
        (e.n == NULL || !luaN_iskeygone(g, e.n))) {
      luaN_markvalue(g, e.v);
      luaN_drain(g, 1);
      resolved++;
    }
    else keep(d, k, e.t, &keptof, &kept);
  }
  d->n = kept;
  return resolved;
}


void luaN_followdoubtful (global_State *g, luaN_Chase *x) {
  const luaN_Vec *d = &g->heap.gc.weak.doubtful[LUAN_DOUBTKEYS];
  Entry e = noentry;
  size_t k;
  for (k = 0; k < d->n; k++)
    if (entryat(g, d, k, 1, &e) && e.kind == LUAN_EPHEMERON && e.n != NULL) luaN_follow(g, x, e.n);
}


/* The key of an entry without a value is no key any more. */
static inline void bury (const Entry *e) {
  if (e->n != NULL && isempty(e->v) && keyiscollectable(e->n)) setdeadkey(e->n);
}


static void clearvalues (global_State *g) {
  luaN_Weak *w = &g->heap.gc.weak;
  const luaN_Vec *d = &w->doubtful[LUAN_DOUBTVALUES];
  Entry e = noentry;
  size_t k;
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n;
  w->allweak = 0;
  for (k = 0; k < d->n; k++) {
    if (!entryat(g, d, k, 1, &e)) continue;
    if ((e.kind & LUAN_WEAKVALUES) && luaN_isgone(g, e.v)) setempty(e.v);
    bury(&e);
    w->allweak |= (e.kind == LUAN_ALLWEAK);
  }
}


static void clearkeys (global_State *g) {
  const luaN_Weak *w = &g->heap.gc.weak;
  const luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  Entry e = noentry;
  size_t k;
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n;
  for (k = 0; k < d->n; k++) {
    if (!entryat(g, d, k, 0, &e)) continue;
    if (e.kind == LUAN_EPHEMERON) setempty(e.v);
    bury(&e);
  }
  if (!w->allweak) return;
  e = noentry;
  d = &w->doubtful[LUAN_DOUBTVALUES];
  for (k = 0; k < d->n; k++) {
    if (!entryat(g, d, k, 1, &e) || e.kind != LUAN_ALLWEAK) continue;
    if (e.n != NULL && !isempty(e.v) && luaN_iskeygone(g, e.n)) setempty(e.v);
    bury(&e);
  }
}


void luaN_cleardoubtful (global_State *g, int keys) {
  if (keys) clearkeys(g);
  else clearvalues(g);
}

/* }===================================================================== */
