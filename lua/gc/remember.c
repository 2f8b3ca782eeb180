/* SPDX-License-Identifier: MIT */
/*
** Barriers and the remembered set (G1 and T1 of gc.h): objects that are looked
** at whole, and slots of big tables. Remembering cannot fail: when a list
** cannot grow, 'lost' is set, and the next collection is a full one, which
** needs no remembered set.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"

#include "collector.h"

/* Words of 'slots' that bring a minor collection, so that none has more to look at;
   and those from which on tables are remembered whole, where no safe point comes. */
#define ENOUGHSLOTS	(1u << 16)
#define MANYSLOTS	(1u << 18)


void luaN_touch (lua_State *L, GCObject *o) {
  if (!(o->marked & LUAN_TOUCHED)) {
    if (luaN_push(G(L), &G(L)->heap.gc.touched, o)) o->marked |= LUAN_TOUCHED;
    else G(L)->heap.gc.lost = 1;
  }
}


void luaC_barrier_ (lua_State *L, GCObject *o, GCObject *v) {
  (void)v;
  luaN_touch(L, o);
}


void luaC_barrierback_ (lua_State *L, GCObject *o) {
  luaN_touch(L, o);
}


void luaN_tostring (lua_State *L, TValue *o) {
  luaO_tostring(L, o);
  if (!(L->stack.p <= (StkId)o && (StkId)o < L->stack_last.p + EXTRA_STACK))
    luaC_barrier(L, clCvalue(s2v(L->ci->func.p)), o);
}


static int issmall (const Table *t) {
  return t->alimit + (unsigned)sizenode(t) <= LUAN_SMALLTABLE;
}


void luaN_rememberslot (lua_State *L, Table *t, TValue *slot) {
  global_State *g = G(L);
  luaN_Vec *v = &g->heap.gc.slots;
  if (t->marked & LUAN_TOUCHED) return;
  if (v->n > 0 && v->a[v->n - 1] == (void *)slot && v->a[v->n - 2] == (void *)t)
    return;
  if (v->n == ENOUGHSLOTS) luaN_hurry(g);
  if (issmall(t) || v->n >= MANYSLOTS ||
      (t->metatable != NULL && luaN_weakness(g, t) == LUAN_ALLWEAK))
    luaN_touch(L, obj2gco(t));
  else if (!luaN_reserve(g, v, 2)) g->heap.gc.lost = 1;
  else {
    v->a[v->n++] = t;
    v->a[v->n++] = slot;
  }
}


void luaN_remembernode (lua_State *L, Table *t, Node *n) {
  if (luaN_isold(t) && G(L)->heap.rehashing != t)
    luaN_rememberslot(L, t, gval(n));
}


void luaN_recounted (lua_State *L, GCObject *o, l_mem change) {
  luaN_Gc *c = &G(L)->heap.gc;
  if (luaN_isold(o)) {
    c->old += change;
    if (c->marking && luaN_hascolour(o, c->colour)) c->reached += change;
  }
}


/* Where the value is now that lay in 'slot' of vectors that t no longer has. */
static TValue *movedto (lua_State *L, Table *t, const void *slot,
                        const TValue *array, unsigned asize, const Table *old) {
  uintptr_t a = (uintptr_t)slot - (uintptr_t)array;
  uintptr_t n = (uintptr_t)slot - (uintptr_t)old->node;
  const TValue *v = NULL;
  if (array != NULL && a < asize * sizeof(TValue))
    v = luaH_getint(t, (lua_Integer)(a / sizeof(TValue)) + 1);
  else if (n < (size_t)sizenode(old) * sizeof(Node)) {
    const Node *node = gnode(old, n / sizeof(Node));
    TValue key;
    if (isempty(gval(node))) return NULL;
    getnodekey(L, &key, node);
    v = luaH_get(t, &key);
  }
  return (v == NULL || isabstkey(v)) ? NULL : cast(TValue *, v);
}


/*
** The slots of t that are remembered follow their values. No other slot refers
** to what must be remembered, for the values are those of before.
*/
static void moveslots (lua_State *L, Table *t, const TValue *array,
                       unsigned asize, const Table *old) {
  luaN_Gc *c = &G(L)->heap.gc;
  size_t i, n = 0;
  for (i = 0; i < c->slots.n; i += 2) {
    void *slot = c->slots.a[i + 1];
    if (c->slots.a[i] == t) {
      slot = movedto(L, t, slot, array, asize, old);
      if (slot == NULL) continue;
    }
    c->slots.a[n] = c->slots.a[i];
    c->slots.a[n + 1] = slot;
    n += 2;
  }
  c->slots.n = n;
}


void luaN_resizing (lua_State *L, const Table *t, const void *inflight,
                    size_t n) {
  luaN_Heap *h = &G(L)->heap;
  h->rehashing = t;
  h->inflight = inflight;
  h->inflightsize = n;
}


void luaN_resized (lua_State *L, Table *t, size_t before, const TValue *array,
                   unsigned asize, const Table *old) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_resizing(L, NULL, NULL, 0);
  luaN_recounted(L, obj2gco(t), (l_mem)luaN_vectorbytes(t) - (l_mem)before);
  if (luaN_isold(t) && !(t->marked & LUAN_TOUCHED)) {
    if (issmall(t) || (luaN_weakness(g, t) & LUAN_EPHEMERON) ||
        c->slots.n > luaN_asize(t) + (size_t)sizenode(t))
      luaN_touch(L, obj2gco(t));  /* for as much work as has been done */
    else {
      luaN_markvectors(g, t);
      moveslots(L, t, array, asize, old);
      if (c->table == t) c->index = 0;  /* its slots have moved */
    }
  }
  if (!(t->marked & LUAN_LISTED) &&
      (luaN_asize(t) * sizeof(TValue) > LUAN_LARGE ||
       (size_t)sizenode(t) * sizeof(Node) > LUAN_LARGE)) {
    lua_assert(c->tables.v.n < c->tables.v.size);  /* reserved: nursery.c */
    t->marked |= LUAN_LISTED;
    c->tables.v.a[c->tables.v.n++] = t;
  }
}


void luaN_wake (lua_State *L) {
  L->marked &= (lu_byte)~LUAN_ASLEEP;
  luaN_touch(L, obj2gco(L));
}


/*
** An emergency collection may have tenured the thread while its stack was asked
** for: there was nothing to scan then, and nothing to count.
*/
void luaN_built (lua_State *L) {
  if (luaN_isold(L)) {
    luaN_recounted(L, obj2gco(L), (l_mem)luaN_round(luaN_stackbytes(L)));
    luaN_wake(L);
  }
}


void luaN_stayawake (lua_State *L) {
  if (L->marked & LUAN_ASLEEP) luaN_wake(L);
}


/* The slot of t that address p lies in, counted as luaN_traverseslots does. */
static int slotof (const Table *t, const void *p, unsigned *i) {
  uintptr_t a = (uintptr_t)p - (uintptr_t)t->array;
  uintptr_t n = (uintptr_t)p - (uintptr_t)t->node;
  unsigned asize = luaN_asize(t);
  if (a < asize * sizeof(TValue)) *i = (unsigned)(a / sizeof(TValue));
  else if (n < (size_t)sizenode(t) * sizeof(Node))
    *i = asize + (unsigned)(n / sizeof(Node));
  else return 0;
  return 1;
}


/*
** The table may have got other vectors since the slot was remembered. It is
** touched then; a slot that lies in the new ones by chance does no harm, even
** between their elements.
*/
static void markslot (global_State *g, Table *t, const void *slot) {
  unsigned i;
  if (slotof(t, slot, &i)) luaN_traverseslots(g, t, i, 1);
}


/*
** The same in a table with weak values: the key is alive. Returns whether the
** value may be dead; nothing else of the table is looked at.
*/
static int markweakslot (global_State *g, Table *t, const void *slot) {
  unsigned i, asize = luaN_asize(t);
  const TValue *v;
  if (!slotof(t, slot, &i)) return 0;
  if (i < asize) v = &t->array[i];
  else {
    Node *n = gnode(t, i - asize);
    v = gval(n);
    if (isempty(v)) {
      if (keyiscollectable(n)) setdeadkey(n);
      return 0;
    }
    if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  }
  if (!iscollectable(v)) return 0;
  if (novariant(rawtt(v)) == LUA_TSTRING) {
    luaN_mark(g, gcvalue(v));
    return 0;
  }
  return 1;
}


/*
** The same in a table with weak keys: an entry whose key is alive holds its value,
** one whose key may be dead is open, as if the table had been met (weak.c).
*/
static void markephemeron (global_State *g, Table *t, const void *slot) {
  unsigned i, asize = luaN_asize(t);
  if (!slotof(t, slot, &i)) return;
  if (i < asize) luaN_markvalue(g, &t->array[i])
  else if (!luaN_openentry(g, gnode(t, i - asize)))
    luaN_traverse(g, obj2gco(t));  /* no memory: as a whole */
}


void luaN_clearslots (global_State *g) {
  luaN_Vec *s = &g->heap.gc.slots;
  size_t k;
  for (k = 0; k < s->n; k += 2) {
    Table *t = (Table *)s->a[k];
    unsigned i, asize = luaN_asize(t);
    if (!slotof(t, s->a[k + 1], &i)) continue;
    if (i < asize) {
      TValue *v = &t->array[i];
      if (iscollectable(v) && luaN_white(g, gcvalue(v))) setempty(v);
    }
    else {
      Node *n = gnode(t, i - asize);
      if (iscollectable(gval(n)) && luaN_white(g, gcvalue(gval(n))))
        setempty(gval(n));  /* the key is alive */
    }
  }
  s->n = 0;
  luaN_shrinkvec(g, s);
}


void luaN_markremembered (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i, weak = 0;
  const Table *last = NULL;
  int kind = LUAN_STRONG;
  for (i = 0; i < c->touched.n; i++) {
    GCObject *o = (GCObject *)c->touched.a[i];
    o->marked &= (lu_byte)~LUAN_TOUCHED;
    luaN_traverse(g, o);
  }
  c->touched.n = 0;
  for (i = 0; i < c->slots.n; i += 2) {
    Table *t = (Table *)c->slots.a[i];
    void *slot = c->slots.a[i + 1];
    int again = (t == last);
    if (!again) {
      kind = luaN_weakness(g, t);
      if (kind != LUAN_STRONG) luaN_meetlate(g, t, kind);
    }
    last = t;
    if (kind == LUAN_STRONG) markslot(g, t, slot);
    else if (kind == LUAN_WEAKVALUES) {
      if (markweakslot(g, t, slot)) {  /* luaN_clearslots goes on with it */
        c->slots.a[weak++] = t;
        c->slots.a[weak++] = slot;
      }
    }
    else if (kind == LUAN_EPHEMERON) markephemeron(g, t, slot);
    else if (!again)
      luaN_traverse(g, obj2gco(t));  /* it has become weak meanwhile */
  }
  c->slots.n = weak;
}


void luaN_forgetall (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  size_t i;
  for (i = 0; i < c->touched.n; i++)
    ((GCObject *)c->touched.a[i])->marked &= (lu_byte)~LUAN_TOUCHED;
  c->touched.n = c->slots.n = 0;
  c->lost = 0;
}


void luaN_revive (global_State *g, GCObject *o) {
  luaN_mark(g, o);
}
