/* SPDX-License-Identifier: MIT */
/* The lists of objects with finalizers, and the calls of the finalizers (finalize.h). */

#include "ldebug.h"
#include "ldo.h"
#include "lgc.h"

#include "ageing.h"
#include "finalize.h"
#include "mark.h"
#include "pace.h"
#include "pause.h"
#include "remset.h"
#include "stress.h"
#include "waiting.h"


/*
** A batch of finalizer calls ends after MAX_BATCH_NS nanoseconds, but not before finalize.quota
** calls. The clock is read once for every CALLS_A_READING calls. A higher MAX_BATCH_NS means longer
** pauses and fewer batches.
*/
#define MAX_BATCH_NS	1000000u
#define CALLS_A_READING	8u

/* finalize.quota is the number of finalizers that a batch calls even if its time is up. It is 0 at
   first, and again when the queue of objects to finalize is empty. If the queue grows from one
   batch to the next, luaN_setquota raises a quota of 0 to LEAST_QUOTA, and multiplies a higher
   quota by 4. */
#define LEAST_QUOTA	64u


/*
** Objects with finalizers often own memory outside the heap. So, except in the incremental mode, a
** minor collection is due when (YOUNG_MIN << youngbits) + finalize.closed young objects have
** finalizers. finalize.closed is the number of young objects that the program will close explicitly
** (luaN_willclose).
**
** When a minor collection has ended, youngbits grows, up to YOUNG_BITS, if more than 1 / YOUNG_MANY
** of these objects have survived, and falls if at most 1 / YOUNG_FEW have.
*/
#define YOUNG_MIN	64u
#define YOUNG_BITS	14u
#define YOUNG_MANY	4u
#define YOUNG_FEW	16u


static int getsfinalizer (global_State *g, GCObject *o, Table *mt) {
  return !tofinalize(o) && gfasttm(g, mt, TM_GC) != NULL &&
         !(g->gcstp & GCSTPCLS);
}


static void setaside (luaN_Gc *c, GCObject *o) {
  /* reserved by makeroom */
  lua_assert(c->finalize.tobefinalized.n < c->finalize.tobefinalized.size);
  c->finalize.tobefinalized.a[c->finalize.tobefinalized.n++] = o;
  c->finalize.found = 1;
}


/* The first entries of the queue 'tobefinalized' are objects whose finalizers were called already.
   Removes these entries if they are at least half of the queue. */
static void dropcalled (luaN_Gc *c) {
  luaN_Vec *v = &c->finalize.tobefinalized;
  size_t gone = c->finalize.next;
  if (gone == 0 || gone < v->n - gone) return;
  memmove(v->a, v->a + gone, (v->n - gone) * sizeof(void *));
  v->n -= gone;
  c->finalize.next = 0;
  c->finalize.seen = (c->finalize.seen > gone) ? c->finalize.seen - gone : 0;
}


/* Reserves capacity for one more object with a finalizer in the list 'finalizable'. Also reserves
   capacity in the queue 'tobefinalized' for all objects of that list, because queueing dead objects
   must not fail. Returns 0 if there is no memory. */
static int makeroom (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  dropcalled(c);
  return luaN_reserve(g, &c->finalize.finalizable.v, 1) &&
         luaN_reserve(g, &c->finalize.tobefinalized, c->finalize.finalizable.v.n + 1);
}


void luaN_shrinkfinalizers (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_shrinkvec(g, &c->finalize.finalizable.v);
  luaN_shrinkspare(g, &c->finalize.tobefinalized, c->finalize.finalizable.v.n);
}


void luaN_beforefinalizer (lua_State *L, GCObject *o, Table *mt) {
  global_State *g = G(L);
  if (mt == NULL || !getsfinalizer(g, o, mt)) return;
  luaN_stress(L);
  if (makeroom(g)) return;
  if (!g->gcstopem) luaN_emergency(L);
  if (!makeroom(g)) (void)luaN_unlimited(g), luaM_error(L);
}


void luaC_checkfinalizer (lua_State *L, GCObject *o, Table *mt) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->finalize.finalizable.v;
  if (getsfinalizer(g, o, mt)) {
    lua_assert(v->n < v->size);  /* reserved by luaN_beforefinalizer */
    v->a[v->n++] = o;
    l_setbit(o->marked, FINALIZEDBIT);
    if (!c->pace.fullcycles && v->n - c->finalize.finalizable.old >=
                               (YOUNG_MIN << c->finalize.youngbits) + c->finalize.closed)
      luaN_hurry(g);
    /* If slices of a major collection have started to queue the unmarked objects of this list, they
       do not visit o, which was just added. So an old o is marked here: if it stayed unmarked, it
       could be freed without a call of its finalizer. (A young o needs no mark: the next minor
       collection visits it.) */
    if (c->finalize.selection != LUAN_UNSELECTED && luaN_isold(o))
      luaN_mark(g, o);
  }
}


/* To be called after a minor collection. Adapts youngbits, which determines how many young objects
   with finalizers make a minor collection due (YOUNG_MIN). Does nothing if 'young' was too low to
   make a collection due.
   young  number of these objects before the collection
   alive  number of them that have survived */
static void setyoungbits (luaN_Finalize *f, size_t young, size_t alive) {
  if (young < (YOUNG_MIN << f->youngbits) + f->closed) return;
  if (alive > young / YOUNG_MANY) f->youngbits += (f->youngbits < YOUNG_BITS);
  else if (alive <= young / YOUNG_FEW) f->youngbits -= (f->youngbits > 0);
}


LUA_API void luaN_willclose (lua_State *L) {
  G(L)->heap.gc.finalize.closed++;
}


void luaN_selectfinalizable (lua_State *L, int all) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_List *l = &c->finalize.finalizable;
  size_t first = c->mark.minor ? l->old : 0;
  size_t i, n;
  size_t young = l->v.n - first;
  c->pause.looked[LUAN_LLISTED] += young;
  for (i = l->v.n; i-- > first; ) {
    GCObject *o = (GCObject *)l->v.a[i];
    if (o != NULL && (all || (luaN_white(g, o) && !luaN_ismet(o)))) {
      setaside(c, o);
      l->v.a[i] = NULL;
    }
  }
  for (n = i = first; i < l->v.n; i++)
    if (l->v.a[i] != NULL) l->v.a[n++] = l->v.a[i];
  l->v.n = n;
  if (!c->mark.minor) l->old = n;
  else {
    setyoungbits(&c->finalize, young, n - first);
    c->finalize.closed = 0;
  }
}


void luaN_beginselection (luaN_Gc *c) {
  lua_assert(c->finalize.finalizable.old == c->finalize.finalizable.v.n);  /* nothing is young */
  c->finalize.selection = LUAN_SELECTING;
  c->sweep.next = c->finalize.finalizable.old;
}


/* Visits finalize.finalizable, the list of objects with finalizers, from the end to the start. An
   object that gets its finalizer between two slices is not queued: it is appended to the list, at
   an index above those that slices still visit. */
size_t luaN_selectslice (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  size_t done = 0, from = c->sweep.next;
  for (; c->sweep.next > 0 && done < bytes; done += LUAN_VISIT) {
    void **p = &c->finalize.finalizable.v.a[--c->sweep.next];
    if (!luaN_white(g, (GCObject *)*p)) continue;
    setaside(c, (GCObject *)*p);
    *p = NULL;
  }
  c->pause.looked[LUAN_LLISTED] += from - c->sweep.next;
  if (c->sweep.next == 0) c->finalize.selection = LUAN_RESURRECTING;
  return done;
}


/* Raises finalize.quota if finalizers become due faster than batches call them: the queue is longer
   than at the previous step of the collector, and no batch has emptied it since that step. Records
   the length of the queue in finalize.waiting; a batch that empties the queue sets this field to 0.
   While slices of a major collection still queue dead objects, only records the length. */
void luaN_setquota (global_State *g) {
  luaN_Finalize *f = &g->heap.gc.finalize;
  unsigned n = (unsigned)(f->tobefinalized.n - f->next);
  if (n > f->waiting && f->waiting > 0 && f->selection != LUAN_SELECTING)
    f->quota = (f->quota == 0) ? LEAST_QUOTA : (f->quota < n) ? 4 * f->quota : f->quota;
  f->waiting = n;
}


/* State of luaN_callfinalizers: a batch of calls. */
typedef struct Batch {
  luaN_Calls which;
  /* 1: the batch has ended, because its time is up */
  int over;
  /* Times of luaN_now in nanoseconds. end: when the batch must end; 0 until the clock is first
     read. read: when the clock was last read. */
  uint64_t end, read;
  /* calls: number of calls of isover in the batch, one before each finalizer. quota: number of
     finalizers that the batch calls even if its time is up. */
  size_t calls, quota;
} Batch;


/* Returns 1 if the batch must end before its next call. For LUAN_ALL and LUAN_CLOSING, always
   returns 0. */
static int isover (Batch *b) {
  uint64_t now;
  if (b->which != LUAN_BATCH || ++b->calls % CALLS_A_READING != 0) return 0;
  now = luaN_now();
  if (b->end == 0) b->end = now + MAX_BATCH_NS;
  /* ends the batch also if the clock was set back */
  else b->over = ((now >= b->end || now < b->read) && b->calls > b->quota);
  b->read = now;
  return b->over;
}


/* Removes the next object from the queue and calls its finalizer, if its metatable still has
   one. */
static void callfinalizer (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  GCObject *o = (GCObject *)c->finalize.tobefinalized.a[c->finalize.next++];
  const TValue *tm;
  TValue v;
  /* Counts this call in finalize.called if o is the next entry of finalize.left, the list of dead
     userdata that are left young until their finalizers run. */
  c->finalize.called += (c->finalize.called < c->finalize.left.n &&
                         c->finalize.left.a[c->finalize.called] == (void *)o);
  if (c->finalize.next == c->finalize.tobefinalized.n)
    c->finalize.next = c->finalize.seen = c->finalize.tobefinalized.n = c->finalize.waiting =
        c->finalize.quota = 0;
  resetbit(o->marked, FINALIZEDBIT);  /* o may get another finalizer */
  setgcovalue(L, &v, o);
  tm = luaT_gettmbyobj(L, &v, TM_GC);
  if (notm(tm)) return;
  setobj2s(L, L->top.p++, tm);
  setobj2s(L, L->top.p++, &v);
  luaD_callnoyield(L, L->top.p - 2, 0);
}


/* Calls finalizers until a finalizer raises an error, the batch ends, or no finalizer is left. */
static void callmany (lua_State *L, void *ud) {
  luaN_Finalize *f = &G(L)->heap.gc.finalize;
  Batch *b = (Batch *)ud;
  while (f->next < f->tobefinalized.n && !isover(b)) callfinalizer(L);
}


int luaN_callfinalizers (lua_State *L, luaN_Calls which) {
  global_State *g = G(L);
  luaN_Finalize *f = &g->heap.gc.finalize;
  Batch b;
  lua_assert(!g->gcemergency);
  if (f->next == f->tobefinalized.n || f->selection == LUAN_SELECTING ||
      (which != LUAN_CLOSING && !luaD_checkminstack(L)))
    return 0;
  memset(&b, 0, sizeof(b));
  b.which = which;
  b.quota = f->quota;
  while (f->next < f->tobefinalized.n && !b.over) {
    lu_byte allowhook = L->allowhook, stopped = g->gcstp;
    int status;
    g->gcstp |= GCSTPGC;  /* no collection in a finalizer */
    L->allowhook = 0;
    L->ci->callstatus |= CIST_FIN;
    status = luaD_pcall(L, callmany, &b, savestack(L, L->top.p), 0);
    L->ci->callstatus &= ~CIST_FIN;
    L->allowhook = allowhook;
    g->gcstp = stopped;
    if (l_unlikely(status != LUA_OK)) {
      luaE_warnerror(L, "__gc");
      /* The warning function may have run Lua code in another thread. A collection there may have
         scanned the stack of L, and recorded that it need not be scanned again (LUAN_CLEAN). */
      luaN_keepdirty(L);
      L->top.p--;  /* the error object */
    }
  }
  return b.over;
}
