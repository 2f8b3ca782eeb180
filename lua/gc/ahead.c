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


/* {== the list =========================================================== */

typedef struct Entry {
  Table *t;
  int kind;		/* of t; it may be strong for the time being */
  unsigned asize, i;	/* of its array part; of the slot */
  Node *n;		/* NULL: in the array part */
  TValue *v;
} Entry;

/* Prefetches what the entries behind k refer to, as far as they are of the table of e. */
static void fetch (const luaN_Vec *d, size_t k, const Entry *e) {
  unsigned i;
  if (k + 4 * PREFETCH_DISTANCE < d->n) __builtin_prefetch(d->a[k + 4 * PREFETCH_DISTANCE + 1]);
  if (k + 2 * PREFETCH_DISTANCE < d->n && d->a[k + 2 * PREFETCH_DISTANCE] == (void *)e->t &&
      luaN_slotof(e->t, e->asize, d->a[k + 2 * PREFETCH_DISTANCE + 1], &i)) {
    const TValue *v = (i < e->asize) ? &e->t->array[i] : NULL;
    const Node *n = (v == NULL) ? gnode(e->t, i - e->asize) : NULL;
    if (n != NULL && (e->kind & LUAN_EPHEMERON)) {
      if (keyiscollectable(n)) __builtin_prefetch(gckey(n));
    }
    else {
      if (v == NULL) v = gval(n);
      if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
    }
  }
}


/* Entry k of the list into *e, which still has the one before. 0: the slot is no longer the
   table's, or the table will be gone through as a whole. */
static int entryat (global_State *g, size_t k, Entry *e) {
  const luaN_Vec *d = &g->heap.gc.weak.doubtful;
  void *const *a = d->a;
  Table *t = (Table *)a[k];
  unsigned i;
  if (t != e->t) {
    e->kind = luaN_weakness(g, t);
    e->asize = luaN_asize(t);
    e->t = t;
  }
  fetch(d, k, e);
  if (!(t->flags & LUAN_SCANNED) || !luaN_slotof(t, e->asize, a[k + 1], &i)) return 0;
  e->i = i;
  e->n = (i < e->asize) ? NULL : gnode(t, i - e->asize);
  e->v = (e->n == NULL) ? &t->array[i] : gval(e->n);
  return 1;
}

/* }===================================================================== */


/* {== slices =========================================================== */

static unsigned slotsof (const Table *t) {
  return luaN_asize(t) + (unsigned)sizenode(t);
}


static void *slotat (const Table *t, unsigned asize, unsigned i) {
  return (i < asize) ? (void *)&t->array[i] : (void *)gval(gnode(t, i - asize));
}


void luaN_begindoubting (luaN_Gc *c) {
  c->weak.doubting = 1;
  c->weak.doubt = c->weak.doubtkept = 0;
  c->weak.resolved = 0;
}


/* At most n slots of t from c->weak.slot on. Returns 1 when t is done, or the list has no
   room: then the atomic step looks at all of t. */
static int looktable (global_State *g, Table *t, int kind, unsigned n) {
  luaN_Gc *c = &g->heap.gc;
  unsigned asize = luaN_asize(t), slots = slotsof(t), i = c->weak.slot;
  unsigned end = (n < slots - i) ? i + n : slots;
  for (; i < end; i++) {
    if (i + PREFETCH_DISTANCE < slots) {
      const TValue *v = (const TValue *)slotat(t, asize, i + PREFETCH_DISTANCE);
      if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
    }
    if (look(g, t, kind, asize, i) && !luaN_listdoubt(g, t, slotat(t, asize, i))) return 1;
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


/* Takes entries that are no longer doubtful off the list. Returns the cost. That the list has
   become shorter is no reason to look again: the program may have removed entries, given them
   other values, or moved them by a new key. */
static size_t lookagain (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *d = &c->weak.doubtful;
  Entry e = {NULL, 0, 0, 0, NULL, NULL};
  size_t done = 0;
  for (; c->weak.doubt < d->n && done < bytes; c->weak.doubt += 2, done += SLOT_COST) {
    size_t k = c->weak.doubt;
    l_mem before = c->mark.reached;
    if (entryat(g, k, &e) &&
        (e.kind == LUAN_STRONG || look(g, e.t, e.kind, e.asize, e.i))) {
      d->a[c->weak.doubtkept++] = d->a[k];
      d->a[c->weak.doubtkept++] = d->a[k + 1];
    }
    if (c->mark.reached != before) c->weak.resolved++;
  }
  if (c->weak.doubt >= d->n) {
    int again = (c->weak.resolved > d->n / 2 / MIN_RESOLVED_PART);
    d->n = c->weak.doubtkept;
    luaN_begindoubting(c);
    c->weak.doubting = (again && ++c->weak.passes < MAX_PASSES);
  }
  return done;
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
  luaN_Vec *d = &g->heap.gc.weak.doubtful;
  Entry e = {NULL, 0, 0, 0, NULL, NULL};
  size_t k, resolved = 0, kept = 0;
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n / 2;
  for (k = 0; k < d->n; k += 2) {
    if (!entryat(g, k, &e)) continue;
    if (e.kind == LUAN_EPHEMERON && !isempty(e.v) &&
        (e.n == NULL || !luaN_iskeygone(g, e.n))) {
      luaN_markvalue(g, e.v);
      luaN_drain(g, 1);
      resolved++;
      continue;
    }
    d->a[kept++] = d->a[k];
    d->a[kept++] = d->a[k + 1];
  }
  d->n = kept;
  return resolved;
}


void luaN_followdoubtful (global_State *g, luaN_Chase *x) {
  const luaN_Vec *d = &g->heap.gc.weak.doubtful;
  Entry e = {NULL, 0, 0, 0, NULL, NULL};
  size_t k;
  for (k = 0; k < d->n; k += 2)
    if (entryat(g, k, &e) && e.kind == LUAN_EPHEMERON && e.n != NULL) luaN_follow(g, x, e.n);
}


void luaN_cleardoubtful (global_State *g, int keys) {
  luaN_Vec *d = &g->heap.gc.weak.doubtful;
  Entry e = {NULL, 0, 0, 0, NULL, NULL};
  size_t k;
  g->heap.gc.pause.looked[LUAN_LWEAK] += d->n / 2;
  for (k = 0; k < d->n; k += 2) {
    if (!entryat(g, k, &e)) continue;
    if (keys) {
      if (e.kind == LUAN_EPHEMERON ||
          (e.kind == LUAN_ALLWEAK && e.n != NULL && !isempty(e.v) &&
           luaN_iskeygone(g, e.n)))
        setempty(e.v);
    }
    else if ((e.kind & LUAN_WEAKVALUES) && luaN_isgone(g, e.v)) setempty(e.v);
    if (e.n != NULL && isempty(e.v) && keyiscollectable(e.n)) setdeadkey(e.n);
  }
}

/* }===================================================================== */
