/* SPDX-License-Identifier: MIT */
/*
** Refinement: processes entries of the remembered set before the next minor collection would, so
** that the minor collection has little to visit. Write barriers process a list that has become
** long. Safepoints process the tables that are remembered as a whole (remset.whole), a bounded
** number of slots at each safepoint.
**
** To process an entry means to remove it from the set and to tenure the young objects to which it
** refers, as the minor collection would. If a tenured object may itself refer to young objects, it
** is remembered. An object that is tenured in this way lives until a major collection, even if the
** program drops it before the next minor collection. For this reason short lists are not processed.
**
** A key without a value is tenured, too: its value may be stored next, and the barrier of that
** store remembers only the value.
**
** A store into a huge table remembers the slot without reading the stored object. Refinement reads
** the headers of many such objects together, with prefetching. For each of the last few tables, it
** counts the slots that it has removed since the last minor collection (remset.writes). If this
** count reaches the number of the table's slots, the remembered set lists the whole table.
**
** A slot of a weak table with a young key or value stays remembered, because only a major
** collection could remove a tenured object from the table. If many such slots are in remset.slots,
** a minor collection is requested. If the list becomes too long again before that collection runs,
** these slots are processed like other slots.
*/

#include "lfunc.h"
#include "lgc.h"

#include "optional.h"
#include "pause.h"
#include "refine.h"
#include "remset.h"
#include "traverse.h"
#include "weak.h"


/* {== tenuring ========================================================== */

/* Marks o, a key or value in a remembered slot or table, unless it is marked. If the table is weak
   ('weak' is 1), marks o only if o is young, in order to tenure it: a weak reference must not mark
   an old object in a major collection. */
static inline void see (global_State *g, GCObject *o, int weak) {
  if (weak ? luaN_isyoung(o) : !luaN_hasepoch(o, g->heap.gc.mark.epoch))
    luaN_mark_(g, o);
}


/* Marks the keys and values in slots i to end - 1 of t. If t is weak ('weak' is 1), marks only the
   young ones, in order to tenure them. */
static void seeslots (global_State *g, const Table *t, unsigned i, unsigned end, int weak) {
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
    /* Marks a key even if its node has no value: a value may be stored next. */
    if (keyiscollectable(n)) see(g, gckey(n), weak);
    if (iscollectable(gval(n))) see(g, gcvalue(gval(n)), weak);
  }
}


/* Returns 1 if t is weak. In this case also adds t to weak.inmajor, the list of weak tables that a
   running major collection has marked, because t may have become weak after it was marked. */
static int seeweak (global_State *g, Table *t) {
  int kind = (t->metatable == NULL) ? LUAN_STRONG : luaN_weakness(g, t);
  if (kind != LUAN_STRONG) luaN_discoverlate(g, t, kind);
  return kind != LUAN_STRONG;
}


/* Starts to process table t, which the remembered set lists as a whole. Removes t from the set, and
   marks its metatable and the lines (64 bytes of memory each) of its array and hash part. */
static void begintable (global_State *g, Table *t) {
  t->marked |= LUAN_UNLOGGED;
  luaN_markN(g, t->metatable);
  luaN_markvectors(g, t);
}


/* Returns 1 if the program stores into o without a barrier: o is a thread or an open upvalue. */
static int iswritten (const GCObject *o) {
  return o->tt == LUA_VTHREAD || (o->tt == LUA_VUPVAL && upisopen(gco2upv(o)));
}


/* Tenures the young objects to which o refers, so that o need not be remembered, and returns 1.
   Returns 0 if o must be remembered: it is a weak table, a thread or an open upvalue. */
static int seeobject (global_State *g, GCObject *o) {
  if (iswritten(o)) return 0;
  if (o->tt != LUA_VTABLE) {
    o->marked |= LUAN_UNLOGGED;
    luaN_traverse(g, o);
  }
  else if (seeweak(g, gco2t(o))) return 0;
  else {
    begintable(g, gco2t(o));
    seeslots(g, gco2t(o), 0, luaN_slots(gco2t(o)), 0);
  }
  return 1;
}


/* Moves the objects of mark.young to the remembered set: they were just tenured, and may refer to
   young objects. If the set is full, tenures these young objects at once instead. */
static void remembertenured (lua_State *L) {
  luaN_Vec *v = &G(L)->heap.gc.mark.young;
  while (v->n > 0) {
    GCObject *o = (GCObject *)v->a[--v->n];
    if (!luaN_isfull(G(L), &G(L)->heap.gc.remset.objects, 1) || !seeobject(G(L), o))
      luaN_remember(L, o);
  }
}


void luaN_tenure (lua_State *L, GCObject *o) {
  luaN_mark(G(L), o);
  remembertenured(L);
}

/* }===================================================================== */


/* {== slots ============================================================= */

/* Returns 1 if slot i of the weak table t has a young key or value. Then the slot must stay in the
   remembered set. */
static int isyoungslot (const Table *t, unsigned i) {
  unsigned asize = luaN_asize(t);
  const Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  const TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  if (n != NULL && keyiscollectable(n) && luaN_isyoung(gckey(n))) return 1;
  return iscollectable(v) && luaN_isyoung(gcvalue(v));
}


/* Processes remset.slots: tenures the young objects to which the slots refer, and removes the slots
   from the list. Counts the removed slots of each strong table in remset.writes. If 'keep' is 1,
   slots of weak tables with a young key or value stay in the list and are not tenured. */
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
    if (w->t != NULL && w->n >= luaN_slots(w->t)) {
      luaN_remember(L, obj2gco(w->t));
      w->n = 0;
    }
  }
  /* A store into a huge table shortens the list remset.slots again when it has remset.refineat
     words: LUAN_CACHED more than it has now. If many slots of weak tables are left in the list,
     this limit is not used: the list may then grow to the limit for stores into other tables
     (remset.many). */
  c->remset.refineat = (c->remset.slots.n > LUAN_CACHED / 2) ? MAX_SIZET
                                               : c->remset.slots.n + LUAN_CACHED;
  remembertenured(L);
}

/* }===================================================================== */


/* {== objects =========================================================== */

void luaN_refineobjects (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->remset.objects;
  size_t i, kept = 0;
  /* remset.stayed is the number of objects that the last call could not remove. If these are more
     than half of the present list, a visit would shorten the list too little. */
  if (v->n < 2 * c->remset.stayed) return;
  for (i = 0; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    if (!seeobject(g, o)) v->a[kept++] = o;
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
  if (!luaN_has(LUAN_TABLESLICES)) return 0;
  /* t is the table that earlier calls have visited in part. If the program has stored into t since,
     the barrier may have added t as a whole to the remembered set again. Then this visit need not
     continue: the next minor collection visits all slots of t. */
  if (t != NULL && luaN_islogged(t)) t = c->remset.refining = NULL;
  if (t == NULL && c->remset.whole.n == 0) return 0;
  slots = (t == NULL) ? 0 : luaN_slots(t) - c->remset.refined;
  for (i = 0; i < c->remset.whole.n; i++) slots += luaN_slots((Table *)c->remset.whole.a[i]);
  if (slots <= c->remset.many) return 0;
  luaN_beginpause(g);
  if (t == NULL) {
    t = c->remset.refining = (Table *)c->remset.whole.a[--c->remset.whole.n];
    c->remset.refined = 0;
    begintable(g, t);
  }
  end = luaN_slots(t);
  if (end - c->remset.refined > c->remset.many) end = c->remset.refined + c->remset.many;
  seeslots(g, t, c->remset.refined, end, seeweak(g, t));
  c->remset.refined = end;
  if (end == luaN_slots(t)) c->remset.refining = NULL;
  remembertenured(L);
  luaN_endslice(g);
  return 1;
}

/* }===================================================================== */
