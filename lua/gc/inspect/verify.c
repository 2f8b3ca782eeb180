/* SPDX-License-Identifier: MIT */
/* The heap verifier. Every build has it (luaN_check). The debug build also runs it after each
   collection; if the heap is large, only after every sixteenth one. The verifier walks all
   reachable objects, with a bit for each reached object (visits.h), and a stack of objects to visit
   in memory from malloc. */

#include <stdio.h>
#include <stdlib.h>

#include "lfunc.h"
#include "lgc.h"

#include "ageing.h"
#include "chunks.h"
#include "growth.h"
#include "host.h"
#include "mark.h"
#include "outside.h"
#include "remset.h"
#include "sweep.h"
#include "visits.h"
#include "weak.h"


/* {== the walk ========================================================= */

typedef struct Walk {
  global_State *g;
  const char *bad;		/* the first violated invariant, or NULL */
  GCObject **stack;		/* reached objects still to be visited */
  /* number of objects on 'stack', and capacity of 'stack' in objects */
  size_t n, size;
  /* bytes of visited objects and their vectors, without prototypes */
  size_t bytes;
  /* number of reached old objects whose bit LUAN_UNLOGGED is clear: each of them must be in a list
     of the remembered set (G8) */
  size_t logged;
  /* The object whose references are being visited. NULL for references to which two rules do not
     apply: references to young objects must be remembered (G1), and marked objects must not refer
     to unmarked ones during marking (G3). */
  GCObject *from;
  /* the slot of a table or stack that is being visited, or NULL */
  const TValue *slot;
  /* 1: the walk has visited a weak table. The walk does not follow weak references, so 'bytes' may
     lack the bytes of live objects. */
  int weak;
  /* 1: a collection has just ended, so reachable objects must be old (G2) */
  int over;
} Walk;


static const char *broken (const char *invariant, const void *where,
                           unsigned long got, unsigned long want) {
  static char message[160];
  snprintf(message, sizeof(message), "invariant %s does not hold at %p: found %lu, expected %lu",
           invariant, where, got, want);
  return message;
}


static void verify_fail (Walk *w, const char *invariant, const void *where,
                         unsigned long got, unsigned long want) {
  if (w->bad == NULL) w->bad = broken(invariant, where, got, want);
}


/* Adds the n bytes at p, memory of an object, to w->bytes. If they are in lines of the heap, checks
   that each line has the mark bit of 'epoch', the object's epoch; while a major collection is
   marking, the bit of the new epoch suffices. If 'epoch' is 0, accepts every line in use. */
static void checklines (Walk *w, const void *p, size_t n, unsigned epoch) {
  const luaN_Gc *c = &w->g->heap.gc;
  luaN_Block *b;
  unsigned i;
  w->bytes += luaN_round(n);
  if (n > LUAN_LARGE) return;
  b = luaN_blockof(&w->g->heap.blocks, p);
  for (i = luaN_lineof(b, p); i <= luaN_lineof(b, (const char *)p + n - 1); i++) {
    if (b->marks[i] == 0 || (b->marks[i] & 0x80))
      verify_fail(w, "H1 (line)", p, b->marks[i], 1);
    else if (epoch != 0 && !(b->marks[i] & luaN_bit(epoch)) &&
             /* While a major collection is marking, luaN_resized marks new vectors of a table with
                the new epoch, even if the table still has the previous one. */
             !(c->mark.major && (b->marks[i] & luaN_bit(c->mark.epoch))))
      verify_fail(w, "H1 (epoch)", p, b->marks[i], luaN_bit(epoch));
  }
}


/* Adds the bytes of o, a long string or userdata, to w->bytes. If o is in lines, checks that
   these lines have the mark of 'epoch', the epoch of o (checklines). Exception: the lines of a
   large o (above LUAN_LARGETEXT bytes) may have any marks, because their mark LUAN_HELD keeps them
   in use. */
static void checktext (Walk *w, const GCObject *o, unsigned epoch) {
  size_t n = luaN_textsize(o);
  if (n <= LUAN_LINETEXT) checklines(w, o, n, n <= LUAN_LARGETEXT ? epoch : 0);
  else w->bytes += luaN_round(n);
}


static int isremembered (Walk *w, const GCObject *o) {
  const luaN_Gc *c = &w->g->heap.gc;
  size_t i;
  if (c->remset.overflow || luaN_islogged(o)) return 1;
  if (o->tt == LUA_VTHREAD) {
    const UpVal *uv = ((const lua_State *)o)->openupval;
    /* a store through an open upvalue adds the upvalue to the remembered set, not the thread */
    for (; uv != NULL; uv = uv->u.open.next)
      if (uv->v.p == w->slot && (luaN_islogged(uv) || (uv->marked & LUAN_PENDING))) return 1;
    return !(o->marked & LUAN_CLEAN);
  }
  if (c->remset.refining != NULL && o == obj2gco(c->remset.refining)) {
    unsigned k;
    if (luaN_slotof(c->remset.refining, luaN_asize(c->remset.refining), w->slot, &k) &&
        k >= c->remset.refined) return 1;
  }
  for (i = 0; i < c->remset.slots.n; i += 2)
    if (c->remset.slots.a[i] == (const void *)o && c->remset.slots.a[i + 1] == w->slot)
      return 1;
  return 0;
}


/* Checks the reference from the object w->from to o:
   - o is not dead
   - if w->from is old and o is young, the reference is remembered (G1)
   - while a major collection is marking: if w->from is marked and o is old and unmarked, the
     reference is remembered, or w->from is yet to be traversed (G3)

   Returns 1, or 0 if o is not an object. */
static int refers (Walk *w, GCObject *o) {
  const luaN_Gc *c = &w->g->heap.gc;
  const GCObject *from = w->from;
  if (o->tt < LUA_TSTRING || novariant(o->tt) > LUA_TPROTO) {
    verify_fail(w, "H1 (no object)", o, o->tt, LUA_TSTRING);
    return 0;
  }
  if (isdead(w->g, o)) verify_fail(w, "G2 (dead)", o, o->marked, c->mark.epoch);
  if (from != NULL && luaN_isold(from) && luaN_differ(from, o)) {
    if (luaN_isyoung(o)) {
      if (!isremembered(w, from)) verify_fail(w, "G1", from, from->tt, o->tt);
    }
    else if (c->mark.major && luaN_hasepoch(from, c->mark.epoch) &&
             !(from->marked & LUAN_PENDING) && !isremembered(w, from))
      verify_fail(w, "G3", from, from->tt, o->tt);
  }
  return 1;
}


/* Returns 1 if o is a young object that a minor collection has left young, so that its survivor age
   is above 0. */
static int isaged (const GCObject *o) {
  return (o->tt == LUA_VLNGSTR || o->tt == LUA_VUSERDATA) && luaN_age(o) > 0;
}


/* Returns 1 if the young object o is a dead userdata that stays young until its finalizer is called
   (finalize.left). */
static int iswaiting (const luaN_Gc *c, const GCObject *o) {
  size_t i;
  for (i = 0; i < c->finalize.left.n; i++) if (c->finalize.left.a[i] == (const void *)o) return 1;
  return 0;
}


static void reach (Walk *w, GCObject *o) {
  if (!refers(w, o) || luaN_visit(w->g, o)) return;
  if (luaN_isyoung(o) && (o->marked & LUAN_UNLOGGED))
    verify_fail(w, "G8 (young)", o, o->marked, 0);
  if (w->over && luaN_isyoung(o) && !isaged(o) && !iswaiting(&w->g->heap.gc, o))
    verify_fail(w, "G2 (young)", o, o->marked, o->tt);
  w->logged += luaN_islogged(o);
  if (w->n == w->size) {
    size_t size = w->size ? 2 * w->size : 1024;
    GCObject **s = (GCObject **)realloc(w->stack, size * sizeof(*s));
    if (s == NULL) {
      verify_fail(w, "no memory for the verifier", o, size, 0);
      return;
    }
    w->stack = s;
    w->size = size;
  }
  w->stack[w->n++] = o;
}


static void reachvalue (Walk *w, const TValue *v) {
  if (iscollectable(v)) reach(w, gcvalue(v));
}


/* Returns 1 if slot v of table t is empty, and 0 if it has a value. If the value is tombstoned (the
   slot only looks empty, hidden.h), also checks G13: slices of a major collection that is marking
   have visited t, and the value is an old object. */
static int isvoid (Walk *w, const Table *t, const TValue *v) {
  const luaN_Gc *c = &w->g->heap.gc;
  if (!luaN_ishidden(v)) return isempty(v);
  if (!(t->flags & LUAN_SCANNED) || !c->mark.major || luaN_isyoung(luaN_hiddenobject(v)))
    verify_fail(w, "G13", t, t->flags & LUAN_SCANNED, luaN_hiddenobject(v)->marked);
  return 0;
}


static void walktable (Walk *w, Table *t) {
  unsigned i, asize = luaH_realasize(t);
  int kind = luaN_weakness(w->g, t);
  unsigned epoch = t->marked & LUAN_EPOCH;
  /* With epoch 0, checklines accepts every mark. In these cases, t may have new vectors that no
     collection has marked, or t may be marked before its vectors. */
  if (luaN_islogged(t) || (t->marked & LUAN_PENDING) || w->g->heap.gc.remset.overflow)
    epoch = 0;
  if (kind != LUAN_STRONG) w->weak = 1;
  if (asize > 0) checklines(w, t->array, asize * sizeof(TValue), epoch);
  if (!isdummy(t))
    checklines(w, t->node, (size_t)sizenode(t) * sizeof(Node), epoch);
  if (t->metatable) reach(w, obj2gco(t->metatable));
  for (i = 0; i < asize && !(kind & LUAN_WEAKVALUES); i++) {
    w->slot = &t->array[i];
    reachvalue(w, &t->array[i]);
  }
  for (i = 0; i < (unsigned)sizenode(t); i++) {
    Node *n = gnode(t, i);
    w->slot = gval(n);
    if (luaN_isdoomed(w->g, t, n)) continue;
    /* In a strong table, the key of an empty node must be reachable or have the tag of a dead key.
       Reason: the node may receive a value again, and the barrier of that store tests only the
       value. */
    if (isvoid(w, t, gval(n))) {
      if (keyiscollectable(n) && kind == LUAN_STRONG) refers(w, gckey(n));
      continue;
    }
    if (keyiscollectable(n) && !(kind & LUAN_EPHEMERON)) reach(w, gckey(n));
    if (kind == LUAN_STRONG) reachvalue(w, gval(n));
  }
  for (i = 0; i < asize; i++) isvoid(w, t, &t->array[i]);
  w->slot = NULL;
}


static int comparewords (const void *a, const void *b) {
  uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return (x > y) - (x < y);
}


/* Checks G9 for t, a weak table that slices have visited: each slot with an unmarked old key or
   value must be in 'known', the sorted addresses of the n slots that the collector will visit
   again. Checks nothing if t itself is in the remembered set. */
static void checkscanned (Walk *w, const Table *t, void **known, size_t n) {
  unsigned i, asize = luaH_realasize(t);
  if (luaN_islogged(t)) return;
  for (i = 0; i < asize + (unsigned)sizenode(t); i++) {
    const Node *node = (i < asize) ? NULL : gnode(t, i - asize);
    const TValue *value = (node == NULL) ? &t->array[i] : gval(node);
    if (((iscollectable(value) && luaN_isundecided(w->g, gcvalue(value))) ||
         (node != NULL && keyiscollectable(node) && luaN_isundecided(w->g, gckey(node)))) &&
        bsearch(&value, known, n, sizeof(void *), comparewords) == NULL)
      verify_fail(w, "G9 (doubtful)", t, i, asize);
  }
}


static void checkahead (Walk *w) {
  const luaN_Gc *c = &w->g->heap.gc;
  const luaN_Vec *keys = &c->weak.doubtful[LUAN_DOUBTKEYS];
  const luaN_Vec *values = &c->weak.doubtful[LUAN_DOUBTVALUES];
  size_t i, n = 0, size = keys->n + values->n + c->remset.slots.n / 2;
  void **known = (void **)malloc((size + 1) * sizeof(void *));
  if (c->weak.inmajor.n == 0 && !c->mark.major &&
      (keys->n != 0 || values->n != 0 || c->weak.hidden != 0 || c->weak.decided))
    verify_fail(w, "G9 (left)", w->g, keys->n + values->n, c->weak.decided);
  if (known == NULL) return;
  /* The two lists weak.doubtful also contain tagged addresses of tables and objects. These do no
     harm in 'known', the array of slot addresses, because no slot has such an address. */
  for (i = 0; i < keys->n; i++) known[n++] = keys->a[i];
  for (i = 0; i < values->n; i++) known[n++] = values->a[i];
  for (i = 0; i < c->remset.slots.n; i += 2) known[n++] = c->remset.slots.a[i + 1];
  qsort(known, n, sizeof(void *), comparewords);
  for (i = 0; i < c->weak.inmajor.n; i++) {
    const Table *t = luaN_tableof(c->weak.inmajor.a[i]);
    if (t->flags & LUAN_SCANNED) checkscanned(w, t, known, n);
  }
  free(known);
}


/* Checks that each table of weak.inmajor has LUAN_DISCOVERED and is listed once (G6). Does not
   check that each table with LUAN_DISCOVERED is in the list. */
static void checkdiscovered (Walk *w) {
  const luaN_Vec *v = &w->g->heap.gc.weak.inmajor;
  size_t i;
  for (i = 0; i < v->n; i++) {
    Table *t = luaN_tableof(v->a[i]);
    if (!(t->marked & LUAN_DISCOVERED)) verify_fail(w, "G6 (bit)", t, t->marked, LUAN_DISCOVERED);
    if (luaN_visit(w->g, obj2gco(t))) verify_fail(w, "G6 (once)", t, i, v->n);
  }
}


/* Checks T2 for the innermost frame of th with CIST_CLEAN: if a stack slot below the frame's
   function has a young object, a remembered open upvalue refers to the slot. */
static void checkclean (Walk *w, lua_State *th) {
  const CallInfo *ci = th->ci;
  StkId o;
  if (luaN_isyoung(th) || w->g->heap.gc.remset.overflow || (th->marked & LUAN_PENDING))
    return;
  while (ci != NULL && !(ci->callstatus & CIST_CLEAN)) ci = ci->previous;
  if (ci == NULL) return;
  for (o = th->stack.p; o < ci->func.p; o++) {
    const UpVal *uv = th->openupval;
    if (!iscollectable(s2v(o)) || luaN_isold(gcvalue(s2v(o)))) continue;
    while (uv != NULL && !(uv->v.p == s2v(o) && luaN_islogged(uv)))
      uv = uv->u.open.next;
    if (uv == NULL)
      verify_fail(w, "T2", th, o - th->stack.p, ci->func.p - th->stack.p);
  }
}


static void walkthread (Walk *w, lua_State *th) {
  StkId o;
  CallInfo *ci;
  UpVal *uv;
  unsigned epoch = (th->marked & LUAN_CLEAN) && !(th->marked & LUAN_PENDING)
                    ? th->marked & LUAN_EPOCH : 0;
  if (th->stack.p == NULL) return;
  if (luaN_isold(th) && th != w->g->mainthread && !w->g->heap.gc.remset.overflow &&
      !(th->marked & (LUAN_CLEAN | LUAN_PENDING)) && !luaN_islogged(th) && th->nextdirty == NULL) {
    verify_fail(w, "T1", th, th->marked, LUAN_CLEAN);
    return;
  }
  checklines(w, th->stack.p, luaN_stackbytes(th), epoch);
  for (ci = th->base_ci.next; ci != NULL; ci = ci->next)
    checklines(w, ci, sizeof(*ci), epoch);
  if (stacksize(th) > th->stackroom)
    verify_fail(w, "T4", th, stacksize(th), th->stackroom);
  checkclean(w, th);
  if (luaN_islogged(th) || th == w->g->mainthread) w->from = NULL;
  for (o = th->stack.p; o < th->top.p; o++) {
    w->slot = s2v(o);
    reachvalue(w, s2v(o));
  }
  w->slot = NULL;
  for (uv = th->openupval; uv != NULL; uv = uv->u.open.next)
    reach(w, obj2gco(uv));
}


static int reachedge (void *ud, const luaN_Edge *e) {
  reach((Walk *)ud, (GCObject *)e->to);
  return 1;
}


/* Checks o and its references (refers), and pushes each object to which o refers on w->stack if it
   was not reached before (reach). For tables and threads, w->slot is the slot with the reference;
   the references of other objects come from luaN_edges. */
static void verify_walk (Walk *w, GCObject *o) {
  unsigned epoch = o->marked & LUAN_EPOCH;
  w->from = o;
  switch (o->tt) {
    case LUA_VTABLE:
      checklines(w, o, sizeof(Table), epoch);
      walktable(w, gco2t(o));
      break;
    case LUA_VTHREAD:
      if (gco2th(o) != w->g->mainthread)
        checklines(w, (char *)o - LUA_EXTRASPACE, LUA_EXTRASPACE + sizeof(lua_State), epoch);
      walkthread(w, gco2th(o));
      break;
    case LUA_VSHRSTR: {
      TString *ts = gco2ts(o), *p;
      checklines(w, o, sizelstring(ts->shrlen), epoch);
      p = w->g->strt.hash[luaN_bucket(w->g, ts->hash)];
      while (p != NULL && p != ts) p = p->u.hnext;
      if (p == NULL) verify_fail(w, "G5", ts, 0, 1);
      break;
    }
    default: {
      luaN_Object d;
      luaN_object(w->g->mainthread, o, &d);
      if (o->tt == LUA_VLNGSTR || o->tt == LUA_VUSERDATA) checktext(w, o, epoch);
      else if (o->tt != LUA_VPROTO) checklines(w, o, d.size, epoch);
      /* an open upvalue refers to a stack slot, which is checked when the thread is visited */
      if (o->tt == LUA_VUPVAL && upisopen(gco2upv(o))) w->from = NULL;
      luaN_edges(w->g->mainthread, o, reachedge, w);
      break;
    }
  }
}


/* Checks that all objects of v, a list of the remembered set, are old and lack LUAN_UNLOGGED (G8).
   Subtracts 1 from w->logged for each object of v that the walk has reached. */
static void verify_uncount (Walk *w, const luaN_Vec *v) {
  size_t i;
  for (i = 0; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    if (!luaN_islogged(o)) verify_fail(w, "G8 (bit)", o, o->marked, 0);
    w->logged -= luaN_visit(w->g, o);
  }
}


static void grayobject (GCObject *o, int on) {
  if (on) o->marked |= LUAN_PENDING;
  else o->marked &= (lu_byte)~LUAN_PENDING;
}


/* If 'on' is 1, sets LUAN_PENDING of the objects that marking has yet to traverse, so that the walk
   does not report their references to unmarked objects (G3). If 'on' is 0, clears the bit. */
static void setgray (global_State *g, int on) {
  luaN_Gc *c = &g->heap.gc;
  const luaN_Vec *v[] = {&c->mark.young, &c->mark.old, &c->weak.inmajor};
  size_t i;
  int k;
  for (k = 0; k < 3; k++)
    for (i = 0; i < v[k]->n; i++)
      /* luaN_tableof removes the tag of a weak table's address, and does not change others */
      grayobject(obj2gco(luaN_tableof(v[k]->a[i])), on);
  if (c->mark.table != NULL) grayobject(obj2gco(c->mark.table), on);
  if (c->mark.thread != NULL) grayobject(obj2gco(c->mark.thread), on);
}


/*
** Checks G4 for v, a list of objects with finalizers, from index 'first' on: each has FINALIZEDBIT,
** none is listed twice.
*/
static void checklisted (Walk *w, const luaN_Vec *v, size_t first) {
  size_t i;
  for (i = first; i < v->n; i++) {
    GCObject *o = (GCObject *)v->a[i];
    if (o == NULL) continue;  /* the object was queued, or a slice has swept the entry (G7) */
    if (!tofinalize(o)) verify_fail(w, "G4 (bit)", o, o->marked, 1);
    if (luaN_visit(w->g, o)) verify_fail(w, "G4 (once)", o, i, first);
  }
}


/* Checks G7: in the list that is being swept, the entries from sweep.kept to sweep.next - 1 are
   NULL. No other entry of the lists of sweep.c is NULL, except in 'finalizable'. */
static const char *checklists (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  int k;
  for (k = 0; k < LUAN_LISTS; k++) {
    const luaN_List *l = luaN_listof(c, k);
    int swept = (g->gcstate == GCSswpfinobj && c->sweep.list == k);
    size_t i;
    for (i = 0; i < l->v.n; i++) {
      int gap = (swept && c->sweep.kept <= i && i < c->sweep.next);
      if (l == &c->finalize.finalizable && g->gcstate <= GCSswpfinobj &&
          !(swept && i < c->sweep.next))
        continue;  /* may be NULL, if the object was queued for its finalizer */
      if ((l->v.a[i] == NULL) != gap)
        return broken("G7", l->v.a[i], i, c->sweep.next);
    }
  }
  return NULL;
}


/* Checks lists.large (G10): young objects that survived a minor collection are after the old ones,
   and exist only outside major collections. */
static const char *checkaged (const global_State *g) {
  const luaN_List *l = &g->heap.gc.lists.large;
  size_t i;
  for (i = 0; i < l->v.n; i++) {
    const GCObject *o = (const GCObject *)l->v.a[i];
    if (o == NULL || (o->tt != LUA_VLNGSTR && o->tt != LUA_VUSERDATA)) continue;
    if (luaN_ismet(o)) return broken("G10 (met)", o, o->marked, i);
    if (luaN_isyoung(o) && luaN_age(o) > 0 && (i < l->old || g->gcstate != GCSpause))
      return broken("G10 (aged)", o, i, l->old);
  }
  return NULL;
}


/* Checks that all objects of v are userdata (G11). For each small one, checks that its lines have
   LUAN_HELD and that it lacks LUAN_MET (G10), and adds its bytes to *bytes. */
static const char *checkheld (const global_State *g, const luaN_Vec *v, size_t *bytes) {
  size_t i;
  for (i = 0; i < v->n; i++) {
    const GCObject *o = (const GCObject *)v->a[i];
    const luaN_Block *b;
    unsigned k, last;
    if (o->tt != LUA_VUSERDATA) return broken("G11 (type)", o, o->tt, LUA_VUSERDATA);
    if (luaN_textsize(o) > LUAN_LARGETEXT) continue;
    *bytes += luaN_round(luaN_textsize(o));
    b = luaN_blockof(&g->heap.blocks, o);
    last = luaN_lineof(b, (const char *)o + luaN_textsize(o) - 1);
    for (k = luaN_lineof(b, o); k <= last; k++)
      if (!(b->marks[k] & LUAN_HELD)) return broken("G10 (held)", o, b->marks[k], i);
    if (luaN_ismet(o)) return broken("G10 (met)", o, o->marked, i);
  }
  return NULL;
}


/* Checks G10 and G11 for the userdata that minor collections have left young: those in
   finalize.left, which are dead and must not be freed before their finalizers are called, and the
   small live ones in finalize.aged. Also checks bytes.waiting, the bytes of the small userdata in
   both lists. */
static const char *checkwaiting (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  const luaN_Vec *v = &c->finalize.left;
  size_t i, at = c->finalize.next, bytes = 0;
  const char *bad = checkheld(g, v, &bytes);
  if (bad == NULL) bad = checkheld(g, &c->finalize.aged, &bytes);
  if (bad != NULL) return bad;
  if (c->finalize.called > v->n) return broken("G11 (called)", v, c->finalize.called, v->n);
  if (v->n + c->finalize.aged.n > 0 && g->gcstate != GCSpause)
    return broken("G11 (major)", v, v->n, g->gcstate);
  for (i = 0; i < v->n; i++) {
    const GCObject *o = (const GCObject *)v->a[i];
    if (i < c->finalize.called) continue;
    if (luaN_isold(o)) return broken("G11 (old)", o, o->marked, i);
    while (at < c->finalize.tobefinalized.n && c->finalize.tobefinalized.a[at] != (const void *)o)
      at++;
    if (at == c->finalize.tobefinalized.n) return broken("G11 (order)", o, i, v->n);
  }
  return (bytes == c->bytes.waiting) ? NULL : broken("G11 (bytes)", v, c->bytes.waiting, bytes);
}


/* Checks the string table: the number of its strings, the numbers of marked and dead strings (G12)
   and, if 'over' is 1, that no string is young. */
static const char *checkstrings (const global_State *g, int over) {
  const luaN_Strings *s = &g->heap.gc.strings;
  int i, n = 0, seen = 0, dead = 0;
  for (i = 0; i < s->limit; i++) {
    const TString *ts = g->strt.hash[i];
    for (; ts != NULL; ts = ts->u.hnext, n++) {
      seen += luaN_hasepoch(ts, g->heap.gc.mark.epoch);
      dead += isdead(g, ts);
      if (over && luaN_isyoung(ts)) return broken("G5 (young)", ts, ts->marked, i);
    }
  }
  if (n != g->strt.nuse) return broken("G5 (number)", s, g->strt.nuse, n);
  if (seen != s->seen) return broken("G12 (seen)", s, s->seen, seen);
  i = (g->gcstate == GCSswpallgc) ? s->dead : 0;
  return (dead == i) ? NULL : broken("G12 (dead)", s, i, dead);
}


/* Checks that old open upvalues of young threads are remembered (G1). Checks nothing while
   mark.pending is set (a marked object did not fit on a mark stack): the next collection traverses
   a pending upvalue even if it is not remembered. */
static const char *checkopen (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t i;
  if (c->mark.pending || c->remset.overflow) return NULL;
  for (i = 0; i < c->lists.threads.v.n; i++) {
    const lua_State *th = (const lua_State *)c->lists.threads.v.a[i];
    const UpVal *uv = (th != NULL && luaN_isyoung(th)) ? th->openupval : NULL;
    for (; uv != NULL; uv = uv->u.open.next)
      if (luaN_isold(uv) && !luaN_islogged(uv) && !(uv->marked & LUAN_PENDING))
        return broken("G1 (open upvalue)", uv, uv->marked, 0);
  }
  return NULL;
}


static const char *checkgraph (lua_State *L, int exact, int over) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  Walk w;
  size_t i;
  memset(&w, 0, sizeof(w));
  w.g = g;
  w.over = over;
  /* While mark.pending is set, no walk is possible: the bits in which a walk records the reached
     objects then record the marked objects that did not fit on a mark stack. */
  if (c->mark.pending) return NULL;
  setgray(g, 1);
  reach(&w, obj2gco(g->mainthread));
  reach(&w, obj2gco(L));
  if (g->heap.pinned != NULL) reach(&w, g->heap.pinned);
  reachvalue(&w, &g->l_registry);
  for (i = 0; i < LUA_NUMTYPES; i++)
    if (g->mt[i]) reach(&w, obj2gco(g->mt[i]));
  for (i = c->finalize.next; i < c->finalize.tobefinalized.n; i++)
    reach(&w, (GCObject *)c->finalize.tobefinalized.a[i]);
  for (i = 0; i < c->lists.fixed.n; i++) reach(&w, (GCObject *)c->lists.fixed.a[i]);
  while (w.n > 0 && w.bad == NULL) verify_walk(&w, w.stack[--w.n]);
  w.from = NULL;
  if (exact && w.bad == NULL && !w.weak && w.bytes != (size_t)c->bytes.old)
    w.bad = broken("H6 (old)", c, c->bytes.old, w.bytes);
  if (w.bad == NULL) {
    verify_uncount(&w, &c->remset.objects);
    verify_uncount(&w, &c->remset.whole);
    if (w.logged != 0) verify_fail(&w, "G8 (listed)", c, w.logged, 0);
  }
  luaN_clearvisits(g);
  checklisted(&w, &c->finalize.finalizable.v, 0);
  checklisted(&w, &c->finalize.tobefinalized, c->finalize.next);
  luaN_clearvisits(g);
  checkdiscovered(&w);
  checkahead(&w);
  luaN_clearvisits(g);
  setgray(g, 0);
  free(w.stack);
  return w.bad;
}

/* }===================================================================== */


/* {== blocks and accounts ============================================== */

static const char *checkblock (const luaN_Block *b) {
  unsigned i, nfree = 0, nyoung = 0;
  if (b->released && !b->chunk->mapped) return broken("H8", b, b->released, 0);
  for (i = 0; i < b->nlines; i++) {
    if (b->marks[i] != 0 && b->released & (1u << luaN_pageof(i)))
      return broken("H8 (page)", b, b->marks[i], 0);
    int ishead = (i + b->nusable < b->nlines);
    if (((b->marks[i] & LUAN_HEAD) != 0) != ishead)
      return broken("H1 (head)", b, b->marks[i], 0);
    nfree += (b->marks[i] == 0);
    nyoung += (b->marks[i] & LUAN_YOUNG) != 0;
  }
  if (nyoung > 0 && b->where != LUAN_USED)
    return broken("H4 (used)", b, b->where, LUAN_USED);
  if (b->where == LUAN_EMPTY && nfree != b->nusable)
    return broken("H4 (empty)", b, nfree, b->nusable);
  if (b->where == LUAN_HOLED && nfree == 0)
    return broken("H4 (holed)", b, nfree, 1);
  return NULL;
}


static const char *checkblocks (const luaN_Blocks *h) {
  const luaN_Chunk *c;
  size_t held = 0, room = 0, vacant = 0, small = 0, released = 0;
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i, empty = 0;
    for (i = 0; i < c->nblocks; i++) {
      const luaN_Block *b = luaN_blockat(c, i);
      const char *bad = checkblock(b);
      if (bad != NULL) return bad;
      if (luaN_smallblock(h, b) != (c->small ? b : NULL))
        return broken("H7", b, c->small, i);
      room += luaN_bytesof(b);
      released += (size_t)__builtin_popcount(b->released) * LUAN_PAGE;
      if (b->where == LUAN_EMPTY) {
        empty++;
        vacant += luaN_bytesof(b);
      }
    }
    small += c->small;
    if (empty != c->nempty) return broken("H5 (empty)", c, c->nempty, empty);
    held += c->size;
  }
  if (room != h->room) return broken("H5 (room)", h, h->room, room);
  if (vacant != h->vacant) return broken("H5 (vacant)", h, h->vacant, vacant);
  if (released != h->released)
    return broken("H8 (released)", h, h->released, released);
  if (small != h->small.n) return broken("H7 (number)", h, h->small.n, small);
  if (held > h->held) return broken("H5 (held)", h, h->held, held);
  return NULL;
}


/* Checks parts of G4: objects before index finalizable.old are old, and 'tobefinalized' has free
   capacity for all objects of 'finalizable'. Also checks that pace.deferred is not larger than
   pace.nursery (N3). */
static const char *checkfinalizers (const luaN_Heap *h) {
  const luaN_Gc *c = &h->gc;
  const luaN_Vec *v = &c->finalize.tobefinalized;
  const luaN_List *l = &c->finalize.finalizable;
  size_t i, want = 0;
  if (c->finalize.next > v->n) return broken("G4 (next)", v, c->finalize.next, v->n);
  for (i = 0; i < l->v.n; i++) {
    const GCObject *o = (const GCObject *)l->v.a[i];
    want += (o != NULL);
    if (o != NULL && i < l->old && luaN_isyoung(o)) return broken("G4 (young)", o, i, l->old);
  }
  if (v->size - v->n < want) return broken("G4 (room)", v, v->size - v->n, want);
  if (c->pace.deferred > c->pace.nursery)
    return broken("N3 (deferred)", c, c->pace.deferred, c->pace.nursery);
  return NULL;
}


/*
** Checks the numbered invariants (gc.h, section 14), as far as a walk over the heap can. Returns
** NULL if all hold. Otherwise returns a line of text in static memory: the first violated
** invariant, or that there is no memory. If a marked object did not fit on a mark stack, no walk is
** possible (visits.h), and only the invariants that need no walk are checked.
**
** over: 1 if a collection has just ended: reachable objects must be old, except those that the
** collection did not tenure (G2). exact: 1 if that was a full collection: bytes.old must be exact,
** unless a table is weak.
*/
static const char *verify (lua_State *L, int exact, int over) {
  global_State *g = G(L);
  const luaN_Heap *h = &g->heap;
  const char *bad;
  const void *where;
  if (!(h->free <= h->limit && h->limit <= h->end))
    return broken("N1", h->free, h->limit - h->free, 0);
  if (h->limits != NULL && (uint64_t)(h->limit - h->free) > luaN_left(g))
    return broken("LM1", h->free, h->limit - h->free, luaN_left(g));
  if (h->limits == NULL && h->refusal != NULL) return broken("LM2", h->refusal, 0, 0);
  if (h->mark > h->free)
    return broken("N2", h->mark, h->mark - h->free, 0);
  if (h->point <= (uint64_t)(uintptr_t)h->limit)
    return broken("S1", h->free, h->point, 0);
  if (h->sampler == NULL && h->point - (uint64_t)(uintptr_t)h->free < LUAN_INFINITY / 2)
    return broken("S1 (no sampler)", h->free, h->point, 0);
  if ((bad = checkblocks(&h->blocks)) != NULL) return bad;
  if ((bad = checklists(g)) != NULL) return bad;
  if ((bad = checkaged(g)) != NULL) return bad;
  if ((bad = checkwaiting(g)) != NULL) return bad;
  if ((bad = checkopen(g)) != NULL) return bad;
  if ((bad = checkstrings(g, over)) != NULL) return bad;
  if ((bad = checkfinalizers(h)) != NULL) return bad;
  if ((bad = luaN_checkoutside(g, &where)) != NULL) return broken(bad, where, 0, 0);
  if ((bad = luaN_checkgrowth(g, &where)) != NULL) return broken(bad, where, 0, 0);
  return checkgraph(L, exact, over);
}

/* }===================================================================== */


#if defined(LUAN_DEBUG)
/* Bytes of old objects above which only every sixteenth collection is verified. A larger value
   makes the debug build slower. */
#define MAX_OFTEN_VERIFIED	((l_mem)4 * 1024 * 1024)

static void mustverify (lua_State *L, int exact) {
  luaN_Heap *h = &G(L)->heap;
  const char *broken;
  unsigned every = h->gc.stress.verify ? h->gc.stress.verify
                 : (h->gc.bytes.old > MAX_OFTEN_VERIFIED) ? 16 : 1;
  int lent;
  /* T1: the stack of the running thread changes, so it cannot be clean */
  lua_assert(!(L->marked & LUAN_CLEAN));
  if ((h->minors + h->majors) % every != 0) return;
  /* A profiler that hooks malloc must not count the verifier's memory as the program's. luaN_lend
     makes it look like memory of a Lua heap (luaN_isallocating returns 1), which the hook
     ignores. */
  lent = luaN_lend(1);
  broken = verify(L, exact, 1);
  luaN_lend(lent);
  if (broken == NULL) return;
  fprintf(stderr, "heap: %s\n", broken);
  abort();
}


/* Priority 101 runs this constructor before the one of attach.c, which runs Lua code and so needs
   luaN_verifier. */
__attribute__((constructor(101))) static void setverifier (void) {
  luaN_verifier = mustverify;
}
#endif


LUA_API const char *luaN_check (lua_State *L) {
  return verify(L, 0, 0);
}
