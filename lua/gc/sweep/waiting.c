/* SPDX-License-Identifier: MIT */
/* Dead userdata that are not tenured (made old) before their finalizers are called (waiting.h). */

#include "lgc.h"

#include "ageing.h"
#include "holes.h"
#include "mark.h"
#include "optional.h"
#include "sampling.h"
#include "waiting.h"


/* Largest number of dead userdata that are left young until their finalizers are called. Each minor
   collection visits all of them. If there are more, the minor collection tenures those that exceed
   the number. */
#define MOST_WAITING	16384u


/* Returns 1 if the userdata o is small: it may share lines with other objects, and is not in
   lists.large. */
static int isbumped (const GCObject *o) {
  return luaN_textsize(o) <= LUAN_LARGETEXT;
}


static GCObject *left (const luaN_Gc *c, size_t i) {
  return (GCObject *)c->finalize.left.a[i];
}


static GCObject *aged (const luaN_Gc *c, size_t i) {
  return (GCObject *)c->finalize.aged.a[i];
}


/* Keeps the dead userdata o until its finalizer is called, without tenuring it (making it old):
   sets LUAN_MET, and marks the objects to which o refers. */
static void waiting_leave (global_State *g, GCObject *o) {
  Udata *u = gco2u(o);
  int i;
  o->marked |= LUAN_MET;
  g->heap.gc.mark.met++;
  luaN_markN(g, u->metatable);
  for (i = 0; i < u->nuvalue; i++) luaN_markvalue(g, &u->uv[i].uv);
}


/* Sets (on = 1) or removes (on = 0) LUAN_HELD, which keeps lines from being reused, on the lines
   (units of 64 bytes) that contain the small userdata o. */
static void setlines (global_State *g, const GCObject *o, int on) {
  luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
  unsigned i = luaN_lineof(b, o);
  unsigned last = luaN_lineof(b, (const char *)o + luaN_textsize(o) - 1);
  for (; i <= last; i++) {
    if (on) b->marks[i] |= LUAN_HELD;
    else b->marks[i] &= (lu_byte)~LUAN_HELD;
  }
}


/* Removes LUAN_HELD, which keeps lines from being reused, from the lines of the small userdata that
   the last minor collection has left young: those of finalize.left (dead) and finalize.aged
   (live). */
static void unmark (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = 0; i < c->finalize.left.n; i++)
    if (isbumped(left(c, i))) setlines(g, left(c, i), 0);
  for (i = 0; i < c->finalize.aged.n; i++) setlines(g, aged(c, i), 0);
  c->bytes.waiting = 0;
}


void luaN_beginwaiting (global_State *g) {
  unmark(g);
  g->heap.gc.finalize.aged.n = 0;
}


void luaN_keepwaiting (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = c->finalize.called; i < c->finalize.left.n; i++) {
    if (luaN_isold(left(c, i))) continue;
    if (c->mark.ageing) waiting_leave(g, left(c, i));
    else luaN_mark(g, left(c, i));
  }
}


int luaN_waits (global_State *g, GCObject *o) {
  luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor || o->tt != LUA_VUSERDATA || (o->marked & LUAN_LISTED) || luaN_isold(o))
    return 0;
  if (luaN_has(LUAN_PENDINGUDATA) && c->mark.ageing &&
      c->finalize.left.n - c->finalize.called < MOST_WAITING &&
      luaN_push(g, &c->finalize.left, o)) {
    waiting_leave(g, o);
    return 1;
  }
  if (isbumped(o)) c->bytes.texts += luaN_round(luaN_textsize(o));
  return 0;
}


/* If userdata o, which this collection leaves young, is small, keeps its memory: sets LUAN_HELD on
   the lines of o, and counts its bytes. Also replaces LUAN_MET by the highest survivor age. Does
   nothing for a large userdata: the sweep of lists.large keeps it. */
static void waiting_keep (global_State *g, GCObject *o) {
  if (!isbumped(o)) return;
  o->marked ^= LUAN_MET;
  luaN_setage(o, LUAN_MOSTAGE);
  setlines(g, o, 1);
  g->heap.gc.bytes.waiting += luaN_round(luaN_textsize(o));
}


/* To be called for userdata o whose finalizer has run. If o is small and young, returns the block
   of o, in which lines may be free now, and reports the death of o if it is dead and the sampler
   watches it. Otherwise returns NULL. */
static luaN_Block *dropped (lua_State *L, GCObject *o) {
  luaN_Heap *h = &G(L)->heap;
  if (luaN_isold(o) || !isbumped(o)) return NULL;
  if (luaN_iswatched(h, o) && !luaN_ismet(o)) luaN_reportfree(L, o);
  return luaN_blockof(&h->blocks, o);
}


void luaN_endwaiting (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->finalize.left;
  size_t i, n = 0;
  for (i = 0; i < c->finalize.called; i++) v->a[i] = dropped(L, left(c, i));
  for (; i < v->n; i++) if (luaN_ismet(left(c, i))) waiting_keep(g, left(c, i));
  /* Keeps in finalize.aged only live userdata: those that the collection has reached (LUAN_MET). If
     a userdata of finalize.aged has died, it is in finalize.left, too, and the loop above has
     removed its LUAN_MET. */
  for (i = 0; i < c->finalize.aged.n; i++) {
    GCObject *o = aged(c, i);
    if (luaN_ismet(o)) {
      waiting_keep(g, o);
      c->finalize.aged.a[n++] = o;
    }
  }
  c->finalize.aged.n = n;
}


void luaN_dropwaited (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->finalize.left;
  size_t i, n = 0;
  void *last = NULL;
  for (i = 0; i < c->finalize.called; i++) {
    if (v->a[i] != NULL && v->a[i] != last) luaN_relist(&g->heap.blocks, (luaN_Block *)v->a[i]);
    last = v->a[i];
  }
  for (; i < v->n; i++) if (luaN_isyoung(left(c, i))) v->a[n++] = v->a[i];
  v->n = n;
  c->finalize.called = 0;
  luaN_shrinkvec(g, v);
}


void luaN_tenurewaiting (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  unmark(g);
  for (i = 0; i < c->finalize.left.n; i++) luaN_mark(g, left(c, i));
  for (i = 0; i < c->finalize.aged.n; i++) luaN_mark(g, aged(c, i));
  c->finalize.left.n = c->finalize.aged.n = 0;
}


/* Empties finalize.left and finalize.aged at the start of a full collection (waiting.h). LUAN_HELD
   has kept the lines of the small userdata in use. Replaces it by the line mark of the epoch that
   ends. The sweep removes the marks of that epoch, so that the lines become free unless the full
   collection marks them with its own epoch. */
void luaN_forgetwaiting (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = 0; i < c->finalize.left.n; i++)
    if (isbumped(left(c, i))) luaN_marklines(g, left(c, i), luaN_textsize(left(c, i)));
  for (i = 0; i < c->finalize.aged.n; i++)
    luaN_marklines(g, aged(c, i), luaN_textsize(aged(c, i)));
  unmark(g);
  c->finalize.left.n = c->finalize.aged.n = c->finalize.called = 0;
}
