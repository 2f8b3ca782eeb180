/* SPDX-License-Identifier: MIT */
/* The remembered set (remset.h). */

#include "lgc.h"

#include "remset.h"
#include "weak.h"


void luaN_remember (lua_State *L, GCObject *o) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  int big = (o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED));
  if (!(o->marked & LUAN_UNLOGGED)) return;
  if (o->tt == LUA_VTABLE) luaN_lookonce(g, gco2t(o));
  if (luaN_push(g, big ? &c->remset.whole : &c->remset.objects, o))
    o->marked &= (lu_byte)~LUAN_UNLOGGED;
  else c->remset.overflow = 1;
}


/* Removes the first thread from remset.dirty and returns it; NULL if the list is empty. */
static lua_State *nextdirty (luaN_Remset *r) {
  lua_State *th = r->dirty;
  if (th == LUAN_LASTDIRTY) return NULL;
  r->dirty = th->nextdirty;
  th->nextdirty = NULL;
  return th;
}


void luaN_rememberdirty (lua_State *L) {
  lua_State *th;
  while ((th = nextdirty(&G(L)->heap.gc.remset)) != NULL) luaN_remember(L, obj2gco(th));
}


void luaN_keepdirty (lua_State *L) {
  if (!(L->marked & LUAN_CLEAN)) return;
  L->marked &= (lu_byte)~LUAN_CLEAN;
  luaN_remember(L, obj2gco(L));
}


void luaN_rememberaged (lua_State *L, luaN_Vec *from) {
  luaN_Remset *r = &G(L)->heap.gc.remset;
  luaN_Vec empty = r->slots;
  lua_assert(empty.n == 0);
  r->aged = from->n;
  if (from->n == 0) return;
  r->slots = *from;
  *from = empty;
}


static void remset_forget (luaN_Vec *v) {
  while (v->n > 0) ((GCObject *)v->a[--v->n])->marked |= LUAN_UNLOGGED;
}


void luaN_forgetall (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  while (nextdirty(&c->remset) != NULL) {}
  remset_forget(&c->remset.objects);
  remset_forget(&c->remset.whole);
  c->remset.slots.n = c->remset.aged = 0;
  luaN_forgetrefining(c);
  c->remset.overflow = 0;
}


void luaN_forgetrefining (luaN_Gc *c) {
  unsigned i;
  c->remset.refining = NULL;
  c->remset.refineat = LUAN_CACHED;
  c->remset.stayed = 0;
  c->remset.hurried = 0;
  for (i = 0; i < LUAN_WRITES; i++) c->remset.writes[i].t = NULL;
}


void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize) {
  if (k + 4 * LUAN_PREFETCH_DISTANCE < s->n)
    __builtin_prefetch(s->a[k + 4 * LUAN_PREFETCH_DISTANCE + 1]);
  if (k + 2 * LUAN_PREFETCH_DISTANCE < s->n && s->a[k + 2 * LUAN_PREFETCH_DISTANCE] == s->a[k]) {
    const Table *t = (const Table *)s->a[k];
    unsigned i;
    if (luaN_slotof(t, asize, s->a[k + 2 * LUAN_PREFETCH_DISTANCE + 1], &i))
      luaN_foresee(i < asize ? &t->array[i] : gval(gnode(t, i - asize)));
  }
}
