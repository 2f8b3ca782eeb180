/* SPDX-License-Identifier: MIT */
/*
** Barriers and the remembered set (G1, G8 and T1 of gc.h): objects that are looked
** at whole, and slots of big tables. Remembering cannot fail: when a list
** cannot grow, 'lost' is set, and the next collection is a full one, which
** needs no remembered set. A list that has got long is gone through at once
** (refine.c), so that no minor collection has many to look at.
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


/* All of o will be looked at. */
void luaN_touch (lua_State *L, GCObject *o) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  int big = (o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED));
  if (!(o->marked & LUAN_UNLOGGED)) return;
  if (luaN_push(g, big ? &c->whole : &c->touched, o))
    o->marked &= (lu_byte)~LUAN_UNLOGGED;
  else c->lost = 1;
}


/* The barriers' way to it. */
static void remember (lua_State *L, GCObject *o) {
  const luaN_Gc *c = &G(L)->heap.gc;
  if (c->touched.n >= c->many) luaN_refinetouched(L);
  luaN_touch(L, o);
}


/* A big table that gets a metatable is not looked at for its sake. */
void luaC_barrier_ (lua_State *L, GCObject *o, GCObject *v) {
  if (o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED)) luaN_tenure(L, v);
  else remember(L, o);
}


void luaC_barrierback_ (lua_State *L, GCObject *o) {
  remember(L, o);
}


void luaN_tostring (lua_State *L, TValue *o) {
  luaO_tostring(L, o);
  if (!(L->stack.p <= (StkId)o && (StkId)o < L->stack_last.p + EXTRA_STACK))
    luaC_barrier(L, clCvalue(s2v(L->ci->func.p)), o);
}


static int issmall (const Table *t) {
  return t->alimit + (unsigned)sizenode(t) <= LUAN_SMALLTABLE;
}


/*
** The slot may be about to be written to: what is remembered is refined before it
** is put there, not after.
*/
void luaN_rememberslot (lua_State *L, Table *t, TValue *slot) {
  global_State *g = G(L);
  luaN_Vec *v = &g->heap.gc.slots;
  if (!(t->marked & LUAN_UNLOGGED)) return;
  if (v->n > 0 && v->a[v->n - 1] == (void *)slot && v->a[v->n - 2] == (void *)t)
    return;
  if (issmall(t)) {
    remember(L, obj2gco(t));
    return;
  }
  if (v->n >= g->heap.gc.many ||
      ((t->marked & LUAN_VAST) && v->n >= g->heap.gc.refineat)) {
    luaN_refineslots(L);
    if (!(t->marked & LUAN_UNLOGGED)) return;
  }
  if (v->size - v->n < 2 && !luaN_reserve(g, v, 2)) g->heap.gc.lost = 1;
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
  if (luaN_isvast(c, luaN_asize(t) + (size_t)sizenode(t)))
    t->marked |= LUAN_VAST;
  if (t->marked & LUAN_UNLOGGED) {
    if (issmall(t) || c->refining == t ||
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


/* May o be dead? Strings are values: they are not. */
static int isopen (global_State *g, GCObject *o) {
  if (novariant(o->tt) == LUA_TSTRING) {
    luaN_mark(g, o);
    return 0;
  }
  return luaN_white(g, o);
}


/*
** A slot of a table with weak values (kind: or weak keys as well): what is strong
** in it is alive. Returns whether the rest may be dead; nothing else of the table is
** looked at.
*/
static int markweakslot (global_State *g, Table *t, int kind, unsigned i) {
  unsigned asize = luaN_asize(t);
  const TValue *v;
  int open = 0;
  if (i < asize) v = &t->array[i];
  else {
    Node *n = gnode(t, i - asize);
    v = gval(n);
    if (isempty(v)) {
      if (keyiscollectable(n)) setdeadkey(n);
      return 0;
    }
    if (keyiscollectable(n)) {
      if (kind == LUAN_ALLWEAK) open = isopen(g, gckey(n));
      else luaN_mark(g, gckey(n));
    }
  }
  return (iscollectable(v) && isopen(g, gcvalue(v))) || open;
}


/*
** The same in a table with weak keys: an entry whose key is alive holds its value,
** one whose key may be dead is open, as if the table had been met (weak.c).
*/
static void markephemeron (global_State *g, Table *t, unsigned i) {
  unsigned asize = luaN_asize(t);
  if (i < asize) luaN_markvalue(g, &t->array[i])
  else if (!luaN_openentry(g, gnode(t, i - asize)))
    luaN_traverse(g, obj2gco(t));  /* no memory: as a whole */
}


/* Removes the entry of slot i when its value (keys: its key) is dead. Returns whether
   its key may be, and is not asked yet. */
static int clearslot (global_State *g, Table *t, unsigned i, int keys) {
  unsigned asize = luaN_asize(t);
  Node *n = (i < asize) ? NULL : gnode(t, i - asize);
  TValue *v = (n == NULL) ? &t->array[i] : gval(n);
  int open = (n != NULL && keyiscollectable(n) && luaN_white(g, gckey(n)));
  if (!isempty(v) &&
      (keys ? open : (iscollectable(v) && luaN_white(g, gcvalue(v)))))
    setempty(v);
  if (!isempty(v)) return open;
  if (n != NULL && keyiscollectable(n)) setdeadkey(n);
  return 0;
}


void luaN_clearslots (global_State *g, int keys) {
  luaN_Vec *s = &g->heap.gc.slots;
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
  luaN_shrinkvec(g, s);
}


/*
** A table may have got other vectors since a slot was remembered. It is touched
** then; a slot that lies in the new ones by chance does no harm, even between their
** elements.
*/
static void markslots (global_State *g) {
  luaN_Vec *s = &g->heap.gc.slots;
  size_t k, open = 0;
  const Table *last = NULL;
  unsigned asize = 0;
  int kind = LUAN_STRONG;
  for (k = 0; k < s->n; k += 2) {
    Table *t = (Table *)s->a[k];
    void *slot = s->a[k + 1];
    unsigned i;
    if (t != last) {
      kind = luaN_weakness(g, t);
      if (kind != LUAN_STRONG) luaN_meetlate(g, t, kind);
      asize = luaN_asize(t);
      last = t;
    }
    if (t->marked & LUAN_VAST) luaN_foreslot(s, k, asize);
    if (!luaN_slotof(t, asize, slot, &i)) continue;
    if (kind == LUAN_STRONG) {
      if (i < asize) luaN_markvalue(g, &t->array[i])
      else luaN_traverseslots(g, t, i, 1);
    }
    else if (kind == LUAN_EPHEMERON) markephemeron(g, t, i);
    else if (markweakslot(g, t, kind, i)) {  /* luaN_clearslots goes on with it */
      s->a[open++] = t;
      s->a[open++] = slot;
    }
  }
  s->n = open;
}


/* Each of them is UNLOGGED again. */
static void traverseall (global_State *g, luaN_Vec *v) {
  size_t i;
  for (i = 0; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    o->marked |= LUAN_UNLOGGED;
    luaN_traverse(g, o);
  }
  v->n = 0;
}


void luaN_markremembered (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  if (c->refining != NULL && luaN_weakness(g, c->refining) != LUAN_STRONG)
    luaN_touch(L, obj2gco(c->refining));
  else if (c->refining != NULL && !luaN_islogged(c->refining))
    luaN_traverseslots(g, c->refining, c->refined, ~0u);
  luaN_forgetrefining(g);
  traverseall(g, &c->touched);
  traverseall(g, &c->whole);
  markslots(g);
}


static void forget (luaN_Vec *v) {
  while (v->n > 0) ((GCObject *)v->a[--v->n])->marked |= LUAN_UNLOGGED;
}


void luaN_forgetall (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  forget(&c->touched);
  forget(&c->whole);
  c->slots.n = 0;
  luaN_forgetrefining(G(L));
  c->lost = 0;
}


void luaN_revive (global_State *g, GCObject *o) {
  luaN_mark(g, o);
}
