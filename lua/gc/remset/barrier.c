/* SPDX-License-Identifier: MIT */
/* Write barriers: functions that the core calls for a store into an old object. They add the object
   or the slot to the remembered set (G1 of gc.h). If a list of the remembered set has become long,
   these functions first shorten the list (refine.c). */

#include "lgc.h"

#include "mark.h"
#include "optional.h"
#include "refine.h"
#include "remset.h"
#include "sampling.h"
#include "weak.h"


static void remember (lua_State *L, GCObject *o) {
  luaN_Remset *r = &G(L)->heap.gc.remset;
  if (r->objects.n >= r->many || luaN_isfull(G(L), &r->objects, 1)) luaN_refineobjects(L);
  luaN_remember(L, o);
}


/* The barrier for a store of v into o, except stores into table slots: adds o to the remembered
   set. If o is a table, v is its new metatable. If this table has had a large array or hash part,
   tenures v instead, because the next minor collection would visit all slots of a remembered o. */
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


/* Returns 1 if a store of o into the huge table t need not be remembered: the last store into a
   huge table stored o, too, and t has no metatable. In this case tenures o at once. Otherwise
   records o, which may be NULL, as the object stored last, and returns 0. */
static int isstoredagain (lua_State *L, const Table *t, GCObject *o) {
  luaN_Remset *r = &G(L)->heap.gc.remset;
  /* A table with a metatable may be weak. A store into a weak table must not tenure o, because only
     a major collection could then remove o from the table. */
  if (o == NULL || o != r->stored || t->metatable != NULL) {
    r->stored = o;
    return 0;
  }
  if (luaN_differ(t, o)) luaN_tenure(L, o);
  return 1;
}


/*
** Adds 'slot' of t, or t itself if t is small, to the remembered set. o: the object that is stored,
** or NULL if the caller does not know it. Does nothing if t is young, if t itself is in the set
** already, or if the last pair in remset.slots is for the same slot. If t is huge and the last
** store into a huge table stored o, too, tenures o instead (isstoredagain).
**
** If remset.slots is long, shortens it first: refine.c tenures the objects to which the listed
** slots refer, and removes the slots. 'slot' is added after that. Reason: the caller may store the
** value only after this call, so that refine.c would miss the value and remove the slot.
*/
void luaN_rememberslot (lua_State *L, Table *t, TValue *slot, GCObject *o) {
  global_State *g = G(L);
  luaN_Remset *r = &g->heap.gc.remset;
  luaN_Vec *v = &r->slots;
  if (!(t->marked & LUAN_UNLOGGED)) return;
  if ((t->marked & LUAN_VAST) && isstoredagain(L, t, o)) return;
  if (v->n > 0 && v->a[v->n - 1] == (void *)slot && v->a[v->n - 2] == (void *)t)
    return;
  if (issmall(t)) {
    remember(L, obj2gco(t));
    return;
  }
  if (v->n >= (size_t)r->many << r->hurried ||
      ((t->marked & LUAN_VAST) && v->n >= r->refineat) || luaN_isfull(g, v, 2)) {
    luaN_refineslots(L);
    if (!(t->marked & LUAN_UNLOGGED)) return;
  }
  if (v->size - v->n < 2 && (r->overflow || !luaN_reserve(g, v, 2))) r->overflow = 1;
  else {
    v->a[v->n++] = t;
    v->a[v->n++] = slot;
  }
}


/* Returns 1 if a store of v into node n of t needs no barrier: neither v nor the key of n is an
   object whose epoch differs from that of t. */
static int ispassed (const Table *t, const Node *n, const TValue *v) {
  return !(keyiscollectable(n) && luaN_differ(t, gckey(n))) &&
         !(iscollectable(v) && luaN_differ(t, gcvalue(v)));
}


void luaN_remembernode (lua_State *L, Table *t, Node *n, const TValue *v) {
  if (G(L)->heap.rehashing == t) return;
  if (v != NULL && ispassed(t, n, v)) return;
  if (v == NULL && !(t->marked & LUAN_VAST) && ispassed(t, n, gval(n))) return;
  luaN_rememberslot(L, t, gval(n), NULL);
}


/* Returns the present address of the value that was at the address 'slot' before t was resized.
   Returns NULL if there was no value, or if the value is not in t now.
   array, asize  the previous array part: address and number of slots
   old           a temporary table that has the previous hash part */
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


/* Updates the pairs for t in remset.slots after t was resized: replaces the address of each slot by
   the present address of its value. Removes the pair if the value is not in t now. array, asize,
   old: previous array and hash part of t, as in movedto. */
static void moveslots (lua_State *L, Table *t, const TValue *array,
                       unsigned asize, const Table *old) {
  luaN_Gc *c = &G(L)->heap.gc;
  size_t i, n = 0;
  for (i = 0; i < c->remset.slots.n; i += 2) {
    void *slot = c->remset.slots.a[i + 1];
    if (c->remset.slots.a[i] == t) {
      slot = movedto(L, t, slot, array, asize, old);
      if (slot == NULL) continue;
    }
    c->remset.slots.a[n] = c->remset.slots.a[i];
    c->remset.slots.a[n + 1] = slot;
    n += 2;
  }
  c->remset.slots.n = n;
  /* remset.aged is the number of words at the start of remset.slots that the last minor collection
     has added. The loop may have removed some of them, so the number may be too high. 0 is always
     right: it only disables isrememberedagain, a test that saves visits. */
  c->remset.aged = 0;
}


void luaN_resizing (lua_State *L, const Table *t, const void *unanchored, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  h->rehashing = t;
  h->unanchored = unanchored;
  h->unanchoredsize = n;
}


/* Returns the bytes that the resize of t has copied: those of the old hash part and, if the array
   part was moved, of the array part. array, asize, old: previous parts of t, as in movedto. */
static size_t movedbytes (const Table *t, const TValue *array, unsigned asize, const Table *old) {
  size_t n = isdummy(old) ? 0 : (size_t)sizenode(old) * sizeof(Node);
  unsigned left = (asize < luaN_asize(t)) ? asize : luaN_asize(t);
  return (array == t->array) ? n : n + left * sizeof(TValue);
}


void luaN_resized (lua_State *L, Table *t, size_t before, const TValue *array,
                   unsigned asize, const Table *old) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_resizing(L, NULL, NULL, 0);
  if (t->marked & LUAN_DISCOVERED) luaN_lookonce(g, t);
  luaN_recounted(L, obj2gco(t), (l_mem)luaN_vectorbytes(t) - (l_mem)before);
  if (luaN_has(LUAN_SLOTMARKING) && luaN_isvast(c, luaN_slots(t)))
    t->marked |= LUAN_VAST;
  if (t->marked & LUAN_UNLOGGED) {
    if (issmall(t) || c->remset.refining == t || c->remset.slots.n > luaN_slots(t))
      luaN_remember(L, obj2gco(t));  /* a visit of t costs about as much as its resize did */
    else {
      luaN_markvectors(g, t);
      moveslots(L, t, array, asize, old);
      if (c->mark.table == t) c->mark.index = 0;  /* the slots of t have other indexes now */
    }
  }
  if (!(t->marked & LUAN_LISTED) &&
      (luaN_asize(t) * sizeof(TValue) > LUAN_LARGE ||
       (size_t)sizenode(t) * sizeof(Node) > LUAN_LARGE)) {
    lua_assert(c->lists.tables.v.n < c->lists.tables.v.size);  /* reserved in nursery.c */
    t->marked |= LUAN_LISTED;
    c->lists.tables.v.a[c->lists.tables.v.n++] = t;
  }
  luaN_countcopy(L, movedbytes(t, array, asize, old));
}
