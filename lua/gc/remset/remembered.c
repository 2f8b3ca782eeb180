/* SPDX-License-Identifier: MIT */
/* Visits the remembered set in a minor collection (remset.h). */

#include "lgc.h"

#include "ageing.h"
#include "ahead.h"
#include "mark.h"
#include "remset.h"
#include "traverse.h"
#include "weak.h"


/* Visits slot i of the ephemeron table t. If the slot is in the array part, or is a node whose key
   is marked, marks the value. Otherwise adds the node to weak.unresolved, to be visited again. */
static void markephemeron (global_State *g, Table *t, unsigned i) {
  unsigned asize = luaN_asize(t);
  if (i < asize) luaN_markvalue(g, &t->array[i])
  /* without memory for weak.unresolved, the whole table is traversed */
  else if (!luaN_resolveentry(g, gnode(t, i - asize))) {
    luaN_lookonce(g, t);  /* removes the entries that a major collection has already found dead */
    luaN_traverse(g, obj2gco(t));
  }
}


/* Removes the entry in slot i of the weak table t if its key (keys = 1) or its value (keys = 0) is
   dead. Returns 1 if the entry stays and its weak key is not marked: this collection may mark the
   key later, so the second call of luaN_clearslots must visit the entry again. */
static int clearslot (global_State *g, Table *t, unsigned i, int keys) {
  unsigned asize = luaN_asize(t);
  Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  int unresolved = (n != NULL && luaN_iskeygone(g, n));
  if (!isempty(v) && (keys ? unresolved : luaN_isgone(g, v))) {
    g->heap.gc.weak.tenured--;
    setempty(v);
  }
  if (!isempty(v)) return unresolved;
  if (n != NULL && keyiscollectable(n)) setdeadkey(n);
  return 0;
}


void luaN_clearslots (global_State *g, int keys) {
  luaN_Vec *s = &g->heap.gc.remset.slots;
  size_t k, left = 0;
  for (k = 0; k < s->n; k += 2) {
    Table *t = (Table *)s->a[k];
    void *slot = s->a[k + 1];
    unsigned i;
    if (luaN_slotof(t, luaN_asize(t), slot, &i) && clearslot(g, t, i, keys)) {
      s->a[left++] = t;
      s->a[left++] = slot;
    }
  }
  s->n = left;
  lua_assert(!keys || left == 0);
}


/* Returns 1 if v refers to a young long string or userdata that has survived no minor collection
   (luaN_age returns 0). */
static int isnewtext (const TValue *v) {
  const GCObject *o = gcvalue(v);
  return (rawtt(v) == ctb(LUA_VLNGSTR) || rawtt(v) == ctb(LUA_VUSERDATA)) &&
         luaN_isyoung(o) && luaN_age(o) == 0;
}


/*
** Returns 1 if the pair (table, slot) at index k of remset.slots, for array slot i of table t, need
** not be visited, because a later pair is for the same slot. This is so if
** - the last minor collection has added the pair, for an object that it left young (k is below
**   remset.aged), and
** - the slot now contains a newer long string or userdata, whose store has added the later pair
**
** Without this test, pairs would accumulate for a table used as a queue. The last pair below
** remset.aged is always visited, because a store into its slot that directly follows adds no second
** pair. asize: number of array slots of t.
*/
static int isrememberedagain (const luaN_Remset *r, size_t k, const Table *t, unsigned asize,
                              unsigned i) {
  return k + 2 < r->aged && i < asize && iscollectable(&t->array[i]) && isnewtext(&t->array[i]);
}


/* Marks the objects to which the slots in remset.slots refer. If its table was resized, a pair may
   contain the address of a slot in an earlier array or hash part; such a pair is skipped. No object
   is missed, because the resize has added the new address of the slot, or the table itself, to the
   remembered set. */
static void markslots (global_State *g) {
  luaN_Vec *s = &g->heap.gc.remset.slots;
  size_t k, kept = 0;
  const Table *last = NULL;
  unsigned asize = 0;
  int kind = LUAN_STRONG;
  luaN_shrinkvec(g, s);  /* no slot is added to s during a collection */
  for (k = 0; k < s->n; k += 2) {
    Table *t = (Table *)s->a[k];
    void *slot = s->a[k + 1];
    unsigned i;
    if (t != last) {
      kind = luaN_weakness(g, t);
      if (kind != LUAN_STRONG) luaN_discoverlate(g, t, kind);
      asize = luaN_asize(t);
      last = t;
      luaN_agein(&g->heap.gc, kind == LUAN_STRONG ? obj2gco(t) : NULL);
    }
    if (t->marked & LUAN_VAST) luaN_foreslot(s, k, asize);
    if (!luaN_slotof(t, asize, slot, &i) ||
        isrememberedagain(&g->heap.gc.remset, k, t, asize, i)) continue;
    if (kind != LUAN_STRONG) {
      luaN_doubt(g, t, slot);
      g->heap.gc.weak.tenured++;
    }
    if (kind == LUAN_STRONG) {
      g->heap.gc.mark.slot = slot;
      if (i < asize) luaN_markvalue(g, &t->array[i])
      else luaN_traverseslots(g, t, i, 1);
    }
    else if (kind == LUAN_EPHEMERON) markephemeron(g, t, i);
    /* the slot stays in remset.slots until luaN_clearslots visits it */
    else if (luaN_visitslot(g, t, kind, asize, i) != 0) {
      s->a[kept++] = t;
      s->a[kept++] = slot;
    }
  }
  luaN_agein(&g->heap.gc, NULL);
  g->heap.gc.mark.slot = NULL;
  g->heap.gc.remset.aged = 0;
  s->n = kept;
}


/* Traverses all objects of v, a list of the remembered set, and empties v. If 'ageing' is 1, the
   collection may leave some objects young; an object of v that refers to one of these is recorded
   as a holder, so that it is remembered again. */
static void traverseall (global_State *g, luaN_Vec *v, int ageing) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = 0; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    o->marked |= LUAN_UNLOGGED;
    if (ageing) luaN_agein(c, o);
    luaN_traverse(g, o);
  }
  luaN_agein(c, NULL);
  v->n = 0;
}


void luaN_markremembered (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  Table *t = c->remset.refining;
  if (t != NULL && !luaN_islogged(t)) {
    if (luaN_weakness(g, t) == LUAN_STRONG) luaN_traverseslots(g, t, c->remset.refined, ~0u);
    else {  /* the table has become weak */
      luaN_lookonce(g, t);
      luaN_traverse(g, obj2gco(t));
    }
  }
  luaN_forgetrefining(c);
  c->pause.looked[LUAN_LREMEMBERED] += c->remset.objects.n + c->remset.whole.n +
                                       c->remset.slots.n / 2;
  traverseall(g, &c->remset.objects, 1);
  traverseall(g, &c->remset.whole, 0);
  markslots(g);
}
