/* SPDX-License-Identifier: MIT */
/*
** What is remembered, looked at ahead of the minor collection that it waits for:
** by the barriers when a list has got long, and by safe points when big tables are
** remembered as a whole, a slice at each. So the collection itself finds little, no
** matter how much has been written to, and where no safe point comes.
**
** To look at something means to tenure the young objects that it refers to, where they
** lie, as the collection would have done. After that it need not be remembered; the
** tenured objects are, for what they refer to may be young. So what is remembered grows
** by no more than is allocated. An object that was tenured in this way stays until a
** major collection even if the program drops it before the minor one, so this is done
** only where much is remembered. No key is cleared here: a key without a value may be
** about to get one. When it gets one, only the value goes through a barrier; so such a key
** is tenured like any other.
**
** A store into a vast table remembers the slot without a look at the header of what is
** stored (gc.h); here these headers are looked at, many together and prefetched. A table
** of which as many slots were remembered as it has is remembered as a whole: stores cost
** nothing from then on, and its slots are looked at in their order.
**
** Slots of weak tables stay remembered: if what they refer to were tenured, no minor
** collection could remove it from them. When there are too many, a minor collection is
** asked for, which knows what is dead; only if none comes are they looked at like others.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lfunc.h"
#include "lgc.h"

#include "limit.h"
#include "pause.h"
#include "refine.h"
#include "remset.h"
#include "traverse.h"
#include "vec.h"
#include "weak.h"


/* {== tenuring ========================================================== */

/* A table refers to o; a weak one keeps nothing old alive. */
static inline void see (global_State *g, GCObject *o, int weak) {
  if (weak ? luaN_isyoung(o) : !luaN_hasepoch(o, g->heap.gc.mark.epoch))
    luaN_mark_(g, o);
}


/* Looks at slots i to end - 1 of t. */
static void seeslots (global_State *g, const Table *t, unsigned i, unsigned end,
                      int weak) {
  unsigned asize = luaN_asize(t);
  unsigned stop = (end < asize) ? end : asize;
  for (; i < stop; i++) {
    const TValue *v = &t->array[i];
    if (stop - i > LUAN_PREFETCH_DISTANCE) luaN_foresee(v + LUAN_PREFETCH_DISTANCE);
    if (iscollectable(v)) see(g, gcvalue(v), weak);
  }
  for (; i < end; i++) {
    const Node *n = gnode(t, i - asize);
    if (end - i > LUAN_PREFETCH_DISTANCE) luaN_foresee(gval(n + LUAN_PREFETCH_DISTANCE));
    if (keyiscollectable(n)) see(g, gckey(n), weak);  /* without a value, too: it stays */
    if (iscollectable(gval(n))) see(g, gcvalue(gval(n)), weak);
  }
}


static unsigned slotsof (const Table *t) {
  return luaN_asize(t) + (unsigned)sizenode(t);
}


/* Is t weak? (The major collection may have taken it for strong.) */
static int seeweak (global_State *g, Table *t) {
  int kind = (t->metatable == NULL) ? LUAN_STRONG : luaN_weakness(g, t);
  if (kind != LUAN_STRONG) luaN_discoverlate(g, t, kind);
  return kind != LUAN_STRONG;
}


static void begintable (global_State *g, Table *t) {
  t->marked |= LUAN_UNLOGGED;
  luaN_markN(g, t->metatable);
  luaN_markvectors(g, t);
}


/* What has been tenured is remembered. */
static void remembertenured (lua_State *L) {
  luaN_Vec *v = &G(L)->heap.gc.mark.young;
  while (v->n > 0) luaN_remember(L, (GCObject *)v->a[--v->n]);
}


void luaN_tenure (lua_State *L, GCObject *o) {
  luaN_mark(G(L), o);
  remembertenured(L);
}

/* }===================================================================== */


/* {== slots ============================================================= */

/* Must the slot of a weak table still be remembered? */
static int isyoungslot (const Table *t, unsigned i) {
  unsigned asize = luaN_asize(t);
  const Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  const TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  if (n != NULL && keyiscollectable(n) && luaN_isyoung(gckey(n))) return 1;
  return iscollectable(v) && luaN_isyoung(gcvalue(v));
}


/*
** Looks at the remembered slots from word k on that are the vast table t's, up to the
** first that is not in its array part. Returns the word of that one. An address that is of
** no slot is of vectors that t had before, whose memory the array has now.
*/
static size_t seerun (global_State *g, const Table *t, size_t k, unsigned asize) {
  const luaN_Vec *s = &g->heap.gc.remset.slots;
  void *const *a = s->a;
  uintptr_t bytes = asize * sizeof(TValue);
  size_t n = s->n;
  for (; k < n && a[k] == t; k += 2) {
    const TValue *v = (const TValue *)a[k + 1];
    uintptr_t at = (uintptr_t)v - (uintptr_t)t->array;
    if (at >= bytes || at % sizeof(TValue) != 0) break;
    if (k + 4 * LUAN_PREFETCH_DISTANCE < n) {
      const TValue *next = (const TValue *)a[k + 2 * LUAN_PREFETCH_DISTANCE + 1];
      __builtin_prefetch(a[k + 4 * LUAN_PREFETCH_DISTANCE + 1]);
      if ((uintptr_t)next - (uintptr_t)t->array < bytes) luaN_foresee(next);
    }
    if (iscollectable(v)) see(g, gcvalue(v), 0);
  }
  return k;
}


/* Looks at all remembered slots but (keep) those of weak tables. */
static void seeremembered (lua_State *L, int keep) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *s = &c->remset.slots;
  luaN_Writes *w = c->remset.writes;
  Table *last = NULL;
  size_t k, kept = 0;
  unsigned asize = 0;
  int weak = 0;
  for (k = 0; k < s->n; k += 2) {
    Table *t = (Table *)s->a[k];
    unsigned i;
    if (t != last) {
      weak = seeweak(g, t);
      asize = luaN_asize(t);
      last = t;
      w = &c->remset.writes[((uintptr_t)t / LUAN_LINE) % LUAN_WRITES];
      if (w->t != t) {
        w->t = t;
        w->n = 0;
      }
    }
    if (!weak && (t->marked & LUAN_VAST)) {
      size_t end = seerun(g, t, k, asize);
      w->n += (end - k) / 2;
      if (end > k) {
        k = end - 2;
        continue;
      }
    }
    luaN_foreslot(s, k, asize);
    if (!luaN_slotof(t, asize, s->a[k + 1], &i)) continue;
    if (!weak) {
      seeslots(g, t, i, i + 1, 0);
      w->n++;
    }
    else if (keep && isyoungslot(t, i)) {
      s->a[kept + 1] = s->a[k + 1];
      s->a[kept] = t;
      kept += 2;
    }
    else {
      if (!keep) seeslots(g, t, i, i + 1, 1);
      luaN_doubt(g, t, s->a[k + 1]);
    }
  }
  s->n = kept;
  c->remset.aged = 0;
}


void luaN_refineslots (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  unsigned i;
  seeremembered(L, 1);
  if (c->remset.slots.n > c->remset.many / 2 && (c->remset.hurried || !gcrunning(g)))
    seeremembered(L, 0);
  else if (c->remset.slots.n > c->remset.many / 4) {
    luaN_hurry(g);
    c->remset.hurried = 1;
  }
  for (i = 0; i < LUAN_WRITES; i++) {
    luaN_Writes *w = &c->remset.writes[i];
    if (w->t != NULL && w->n >= slotsof(w->t)) {
      luaN_remember(L, obj2gco(w->t));
      w->n = 0;
    }
  }
  c->remset.refineat = (c->remset.slots.n > LUAN_CACHED / 2) ? MAX_SIZET  /* weak: they stay */
                                               : c->remset.slots.n + LUAN_CACHED;
  remembertenured(L);
}

/* }===================================================================== */


/* {== objects =========================================================== */

/* Is o written to without a barrier: a thread, which may run, or a variable on its stack? */
static int iswritten (const GCObject *o) {
  return o->tt == LUA_VTHREAD || (o->tt == LUA_VUPVAL && upisopen(gco2upv(o)));
}


void luaN_refineobjects (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->remset.objects;
  size_t i, kept = 0;
  if (v->n < 2 * c->remset.stayed) return;  /* most of them would stay */
  for (i = 0; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    if (iswritten(o)) v->a[kept++] = o;
    else if (o->tt != LUA_VTABLE) {
      o->marked |= LUAN_UNLOGGED;
      luaN_traverse(g, o);
    }
    else if (seeweak(g, gco2t(o))) v->a[kept++] = o;
    else {
      begintable(g, gco2t(o));
      seeslots(g, gco2t(o), 0, slotsof(gco2t(o)), 0);
    }
  }
  v->n = c->remset.stayed = kept;
  if (kept > c->remset.many / 2) luaN_hurry(g);
  remembertenured(L);
}

/* }===================================================================== */


/* {== tables remembered as a whole ====================================== */

int luaN_refinetables (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  Table *t = c->remset.refining;
  size_t i, slots;
  unsigned end;
  if (t != NULL && luaN_islogged(t)) t = c->remset.refining = NULL;  /* all of it, again */
  if (t == NULL && c->remset.whole.n == 0) return 0;
  slots = (t == NULL) ? 0 : slotsof(t) - c->remset.refined;
  for (i = 0; i < c->remset.whole.n; i++) slots += slotsof((Table *)c->remset.whole.a[i]);
  if (slots <= c->remset.many) return 0;
  luaN_beginpause(g);
  if (t == NULL) {
    t = c->remset.refining = (Table *)c->remset.whole.a[--c->remset.whole.n];
    c->remset.refined = 0;
    begintable(g, t);
  }
  end = slotsof(t);
  if (end - c->remset.refined > c->remset.many) end = c->remset.refined + c->remset.many;
  seeslots(g, t, c->remset.refined, end, seeweak(g, t));
  c->remset.refined = end;
  if (end == slotsof(t)) c->remset.refining = NULL;
  remembertenured(L);
  luaN_endslice(g);
  return 1;
}

/* }===================================================================== */
