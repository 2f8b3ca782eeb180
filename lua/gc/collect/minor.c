/* SPDX-License-Identifier: MIT */
/*
** The minor collection: marks the young objects that are reachable from the roots and the
** remembered set, and tenures them in place. (Some are not tenured: ageing.h, waiting.h.) Lines
** (units of 64 bytes) of the nursery without survivors become free. Dead objects are not visited,
** except short strings and the objects in the lists of sweep.c.
*/

#include "lgc.h"

#include "ageing.h"
#include "growth.h"
#include "holes.h"
#include "mark.h"
#include "minor.h"
#include "pace.h"
#include "remset.h"
#include "sampling.h"
#include "interned.h"
#include "sweep.h"
#include "termination.h"
#include "traverse.h"
#include "waiting.h"


/* To be called in a minor collection of the incremental mode. Marks all young objects with
   finalizers: in this mode, only a major collection may find them dead, because programs detect the
   end of a cycle (major collection) by the call of a finalizer. */
static void keepfinalizable (global_State *g) {
  luaN_List *l = &g->heap.gc.finalize.finalizable;
  size_t i;
  for (i = l->old; i < l->v.n; i++) luaN_mark(g, (GCObject *)l->v.a[i]);
}


/* Tenures the objects that the minor collection has reached and left young (ageing.h). */
static void tenureyoung (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_List *l = &c->lists.large;
  luaN_tenurewaiting(g);
  for (; l->old < l->v.n; l->old++) luaN_mark(g, (GCObject *)l->v.a[l->old]);
  /* removes from the mark stack the userdata that luaN_mark has just pushed; they refer only to old
     objects */
  luaN_drain(g, 0);
  c->finalize.finalizable.old = c->finalize.finalizable.v.n;
  c->bytes.alltenured += c->bytes.tenured;
  c->bytes.tenured = c->bytes.aged = 0;
}


/* To be called after a minor collection that may have left some live objects young.

   If a major collection starts ('start' is 1), tenures these objects: while it runs, no live object
   may stay young (G10). Reason: the holder (the object that refers to the young object) must be in
   the remembered set until the next minor collection, but the major collection may free a dead
   holder before that.

   Otherwise adds the holders to the remembered set. */
void luaN_aged (lua_State *L, int start) {
  luaN_Gc *c = &G(L)->heap.gc;
  luaN_Vec *v = &c->mark.holders, *s = &c->mark.slots;
  if (start && (c->bytes.aged > 0 || c->finalize.left.n > 0 || c->finalize.aged.n > 0))
    tenureyoung(G(L));
  if (c->bytes.aged == 0 && c->finalize.aged.n + c->finalize.left.n == 0) v->n = s->n = 0;
  luaN_rememberaged(L, s);
  while (v->n > 0) {
    GCObject *o = (GCObject *)v->a[--v->n];
    if (o->tt != LUA_VTHREAD) luaN_remember(L, o);
    else luaN_keepdirty(gco2th(o));
  }
}


void luaN_minor (lua_State *L, int ageing) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lu_byte stopem = g->gcstopem;
  g->gcstopem = 1;
  c->mark.minor = 1;
  luaN_beginageing(c, ageing);
  luaN_retire(g);
  luaN_beginwaiting(g);
  luaN_markroots(L);
  luaN_markremembered(L);
  luaN_keepwaiting(g);
  if (c->pace.fullcycles) keepfinalizable(g);
  luaN_terminate(L);
  luaN_atomic(L, 0);
  luaN_dropdead(g);
  luaN_endwaiting(L);
  luaN_sweeplists(L);
  luaN_dropwaited(g);
  luaN_sweepyoungstrings(g);
  luaN_recycle(&g->heap.blocks);
  luaN_beginageing(c, 0);
  luaN_keepdirty(L);
  lua_assert(c->mark.major || c->mark.old.n == 0);
  c->mark.minor = 0;
  luaN_outlived(c, c->bytes.tenured);
  c->bytes.alltenured += c->bytes.tenured;
  c->bytes.tenured = 0;
  luaN_recomputelive(g);
  g->gcstopem = stopem;
}
