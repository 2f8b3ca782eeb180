/* SPDX-License-Identifier: MIT */
/* Sweeps the lists of objects that need work when they are dead (sweep.h). */

#include "lfunc.h"
#include "lgc.h"

#include "ageing.h"
#include "finalize.h"
#include "holes.h"
#include "host.h"
#include "mark.h"
#include "outside.h"
#include "pace.h"
#include "sampling.h"
#include "sweep.h"
#include "thread.h"

/* Costs of sweeping. Unit: the time to mark one byte. Each entry of a list costs LUAN_VISIT. A dead
   one costs DEADCOST more, plus 1 / FREEPART for each byte that is returned to lua_Alloc. */
#define DEADCOST	208u
#define FREEPART	16u


static void freelarge (global_State *g, void *p, size_t n) {
  if (n > LUAN_LARGE) luaN_ask(g, p, n, 0);
}


static void freetable (global_State *g, Table *t) {
  freelarge(g, t->array, luaN_asize(t) * sizeof(TValue));
  freelarge(g, t->node, (size_t)sizenode(t) * sizeof(Node));
}


/* sweep.freed is a block in which lines (units of 64 bytes) were freed, or NULL. Moves the block to
   the list of blocks with its present number of free lines, and sets sweep.freed to NULL. */
static void relistfreed (global_State *g) {
  luaN_Sweep *s = &g->heap.gc.sweep;
  if (s->freed != NULL) luaN_relist(&g->heap.blocks, s->freed);
  s->freed = NULL;
}


/* Frees the dead long string or large userdata o. If lines (units of 64 bytes) of a block become
   free, the block must move to the list of blocks with its new number of free lines. Records the
   block in sweep.freed, so that it moves when an object of another block is freed: successive dead
   objects are often in one block. */
static void freetext (global_State *g, GCObject *o) {
  luaN_Sweep *s = &g->heap.gc.sweep;
  luaN_Block *b = luaN_freetext(g, o);
  if (b == NULL || b == s->freed) return;
  relistfreed(g);
  s->freed = b;
}


static void freeobject (lua_State *L, GCObject *o) {
  if (o->tt == LUA_VPROTO) luaF_freeproto(L, gco2p(o));
  else {
    lua_assert(o->tt == LUA_VLNGSTR || o->tt == LUA_VUSERDATA);
    freetext(G(L), o);
  }
}


/* Numbers of the lists, in the order of the sweep. STANDINS, the owners of external bytes, must
   come before LARGE: a large userdata may be in both, and the sweep of LARGE frees it. */
enum { STANDINS, THREADS, TABLES, LARGE, FINALIZABLE };


luaN_List *luaN_listof (luaN_Gc *c, int which) {
  luaN_List *const lists[LUAN_LISTS] = {&c->lists.standins, &c->lists.threads, &c->lists.tables,
                                        &c->lists.large, &c->finalize.finalizable};
  return lists[which];
}


/* Decides whether o stays in the list with number 'which', and returns 1 if so, else 0. A dead o
   does not stay; its memory is freed, or its external bytes are subtracted. A live object of
   STANDINS, the owners of external bytes, does not stay if it owns none any more. Every object of
   FINALIZABLE stays, because dead ones were moved to another list before. */
static int stays (lua_State *L, int which, GCObject *o) {
  if (which == FINALIZABLE) return 1;
  if (which == STANDINS) return luaN_keepstandin(G(L), gco2u(o));
  if (!luaN_white(G(L), o)) return 1;
  if (which == LARGE) freeobject(L, o);
  else if (which == TABLES) freetable(G(L), gco2t(o));
  else {
    lua_assert(gco2th(o)->nextdirty == NULL);
    luaN_endthread(L, gco2th(o));
  }
  return 0;
}


/* Sweeps the list with number 'which' from index 'first' on, and frees unused capacity of the
   list. */
static void sweepfrom (lua_State *L, int which, size_t first) {
  luaN_List *l = luaN_listof(&G(L)->heap.gc, which);
  size_t i, n;
  G(L)->heap.gc.pause.looked[LUAN_LLISTED] += l->v.n - first;
  for (n = i = first; i < l->v.n; i++) {
    GCObject *o = (GCObject *)l->v.a[i];
    if (o != NULL && stays(L, which, o)) l->v.a[n++] = o;
  }
  relistfreed(G(L));
  l->v.n = l->old = n;
  luaN_shrinkvec(G(L), &l->v);
}


/* Sweeps the young part of l, which is lists.large, in a minor collection: frees the dead objects,
   and moves the tenured ones before those that stay young. Reports the death of an object that the
   sampler watches, because the sampler may have counted it as a survivor of an earlier
   collection. */
static void sweepyounglarge (lua_State *L, luaN_List *l) {
  luaN_Heap *h = &G(L)->heap;
  size_t i, n, old, aged = 0;
  h->gc.pause.looked[LUAN_LLISTED] += l->v.n - l->old;
  for (i = n = old = l->old; i < l->v.n; i++) {
    GCObject *o = (GCObject *)l->v.a[i];
    if (luaN_ismet(o)) {
      o->marked ^= LUAN_MET;
      if (luaN_age(o) < LUAN_MOSTAGE) luaN_setage(o, luaN_age(o) + 1);
      aged += luaN_round(luaN_textsize(o));
      luaN_holdtext(G(L), o);
      l->v.a[n++] = o;
    }
    else if (luaN_isold(o)) {
      if (o->tt != LUA_VPROTO) luaN_holdtext(G(L), o);
      l->v.a[n++] = l->v.a[old];
      l->v.a[old++] = o;
    }
    else {
      if (luaN_iswatched(h, o)) luaN_reportfree(L, o);
      freeobject(L, o);
    }
  }
  relistfreed(G(L));
  l->v.n = n;
  l->old = old;
  h->gc.bytes.aged = aged;
  luaN_shrinkvec(G(L), &l->v);
}


/* In a full collection, sets the mark LUAN_HELD on the lines (units of 64 bytes) of all young long
   strings and large userdata, because marking does not mark these lines. LUAN_HELD keeps lines from
   being reused. To be called before the sweep, which removes LUAN_HELD from the lines of dead
   objects. */
static void holdyoung (global_State *g, const luaN_List *l) {
  size_t i;
  for (i = l->old; i < l->v.n; i++) {
    const GCObject *o = (const GCObject *)l->v.a[i];
    if (o->tt != LUA_VPROTO) luaN_holdtext(g, o);
  }
}


/* In a minor collection, updates l->old, the number of old objects at the start of l, the list of
   objects with finalizers. Moves no entry, so that the list keeps the order in which the objects
   got their finalizers. */
static void passold (global_State *g, luaN_List *l) {
  while (l->old < l->v.n && luaN_isold((GCObject *)l->v.a[l->old])) l->old++;
  luaN_shrinkvec(g, &l->v);
}


void luaN_sweeplists (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  int k;
  c->bytes.aged = 0;
  if (!c->mark.minor) holdyoung(G(L), &c->lists.large);
  for (k = 0; k < LUAN_LISTS; k++) {
    luaN_List *l = luaN_listof(c, k);
    if (k == LARGE && c->mark.minor) sweepyounglarge(L, l);
    else if (k == FINALIZABLE && c->mark.minor) passold(G(L), l);
    else sweepfrom(L, k, c->mark.minor ? l->old : 0);
  }
}


size_t luaN_sweepslice (lua_State *L, size_t bytes) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_List *l = luaN_listof(c, c->sweep.list);
  size_t done = 0;
  lua_assert(l->old == l->v.n);  /* nothing is young */
  for (; c->sweep.next < l->old && done < bytes; c->sweep.next++) {
    GCObject *o = (GCObject *)l->v.a[c->sweep.next];
    size_t held = g->heap.blocks.held;
    l->v.a[c->sweep.next] = NULL;
    if (o != NULL && stays(L, c->sweep.list, o)) l->v.a[c->sweep.kept++] = o;
    else if (o != NULL) done += DEADCOST + (held - g->heap.blocks.held) / FREEPART;
    done += LUAN_VISIT;
    c->pause.looked[LUAN_LLISTED]++;
  }
  relistfreed(g);
  if (c->sweep.next == l->old) {
    l->v.n = l->old = c->sweep.kept;
    luaN_shrinkvec(g, &l->v);
    c->sweep.kept = c->sweep.next = 0;
    c->sweep.list++;
  }
  return done;
}


void luaN_freelists (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = 0; i < c->lists.threads.v.n; i++) {
    lua_State *th = (lua_State *)c->lists.threads.v.a[i];
    if (th == NULL) continue;  /* slices of a sweep have visited the entry (G7) */
    th->openupval = NULL;
    luaN_endthread(L, th);
  }
  for (i = 0; i < c->lists.tables.v.n; i++)
    if (c->lists.tables.v.a[i] != NULL) freetable(g, (Table *)c->lists.tables.v.a[i]);
  for (i = 0; i < c->lists.large.v.n; i++) {
    GCObject *o = (GCObject *)c->lists.large.v.a[i];
    if (o != NULL && (o->tt == LUA_VPROTO || luaN_textsize(o) > LUAN_LINETEXT)) freeobject(L, o);
  }
}
