/* SPDX-License-Identifier: MIT */
/*
** Objects with finalizers (finalize.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "ldebug.h"
#include "ldo.h"
#include "lgc.h"
#include "lmem.h"
#include "ltm.h"

#include "finalize.h"
#include "mark.h"
#include "nursery.h"
#include "pause.h"
#include "remset.h"
#include "stress.h"
#include "vec.h"


/* Cost of an entry, in bytes looked at by a slice of marking. */
#define LISTCOST	48u


/* A batch of finalizers ends after so many nanoseconds; the clock is looked at
   once in LOOK calls. */
#define BATCH	1000000u
#define LOOK	8u

/* Calls that a batch makes at least when the last ones were too few. */
#define QUOTA	((size_t)64)


static int getsfinalizer (global_State *g, GCObject *o, Table *mt) {
  return !tofinalize(o) && gfasttm(g, mt, TM_GC) != NULL &&
         !(g->gcstp & GCSTPCLS);
}


static void setaside (luaN_Gc *c, GCObject *o) {
  lua_assert(c->tobefinalized.n < c->tobefinalized.size);  /* makeroom */
  c->tobefinalized.a[c->tobefinalized.n++] = o;
}


/* Those that have been called leave the list when they are as many as those that wait. */
static void dropcalled (luaN_Gc *c) {
  luaN_Vec *v = &c->tobefinalized;
  size_t gone = c->nextfinalized;
  if (gone == 0 || gone < v->n - gone) return;
  memmove(v->a, v->a + gone, (v->n - gone) * sizeof(void *));
  v->n -= gone;
  c->nextfinalized = 0;
  c->seenfinalized = (c->seenfinalized > gone) ? c->seenfinalized - gone : 0;
}


/* Room for one object more here, and there when it is dead. */
static int makeroom (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  dropcalled(c);
  return luaN_reserve(g, &c->finalizable.v, 1) &&
         luaN_reserve(g, &c->tobefinalized, c->finalizable.v.n + 1);
}


/* A finalizer may be running, which a place in the list is kept for. */
void luaN_shrinkfinalizers (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_shrinkvec(g, &c->finalizable.v);
  luaN_shrinkspare(g, &c->tobefinalized, c->finalizable.v.n);  /* makeroom */
}


void luaN_beforefinalizer (lua_State *L, GCObject *o, Table *mt) {
  global_State *g = G(L);
  if (mt == NULL || !getsfinalizer(g, o, mt)) return;
  luaN_stress(L);
  if (makeroom(g)) return;
  if (!g->gcstopem) luaN_emergency(L);
  if (!makeroom(g)) luaM_error(L);
}


void luaC_checkfinalizer (lua_State *L, GCObject *o, Table *mt) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->finalizable.v;
  if (getsfinalizer(g, o, mt)) {
    lua_assert(v->n < v->size);  /* luaN_beforefinalizer */
    v->a[v->n++] = o;
    l_setbit(o->marked, FINALIZEDBIT);
    if (c->selection != LUAN_UNSELECTED && luaN_isold(o))
      luaN_mark(g, o);  /* the passes will not come to it */
  }
}


/*
** A major collection in slices has two passes for that: all that are dead are to be found
** before one of them, being put aside, brings others back.
*/
void luaN_selectfinalizable (lua_State *L, int all) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_List *l = &c->finalizable;
  size_t first = c->minor ? l->old : 0;
  size_t i, n;
  c->work += l->v.n - first;
  for (i = l->v.n; i-- > first; ) {
    GCObject *o = (GCObject *)l->v.a[i];
    if (o != NULL && (all || luaN_white(g, o))) {
      setaside(c, o);
      l->v.a[i] = NULL;
    }
  }
  for (n = i = first; i < l->v.n; i++)
    if (l->v.a[i] != NULL) l->v.a[n++] = l->v.a[i];
  l->v.n = l->old = n;
}


void luaN_beginselection (luaN_Gc *c) {
  lua_assert(c->finalizable.old == c->finalizable.v.n);  /* nothing is young */
  c->selection = LUAN_SELECTING;
  c->selected = 0;
  c->kept = c->next = c->finalizable.old;
}


/* What gets its finalizer from now on is above 'kept', and alive for this time. */
size_t luaN_selectslice (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  void **a = c->finalizable.v.a;
  size_t done = 0, from = c->next;
  if (c->selection == LUAN_SELECTING) {
    for (; c->next > 0 && done < bytes; done += LISTCOST) {
      void **p = &a[--c->next];
      if (luaN_white(g, (GCObject *)*p)) {
        *p = luaN_select(*p);
        c->selected++;
      }
    }
  }
  else {
    for (; c->selected > 0 && done < bytes; done += LISTCOST) {
      void **p = &a[--c->next];
      if (luaN_isselected(*p)) {
        setaside(c, luaN_unselected(*p));
        *p = NULL;
        c->selected--;
      }
    }
  }
  c->work += from - c->next;
  if (c->selection == LUAN_SELECTING && c->next == 0) {
    c->selection = LUAN_MOVING;
    c->next = c->kept;
  }
  if (c->selection == LUAN_MOVING && c->selected == 0)
    c->selection = LUAN_RESURRECTING;
  return done;
}


void luaN_endselection (luaN_Gc *c) {
  void **a = c->finalizable.v.a;
  size_t i;
  if (c->selection == LUAN_SELECTING) {
    for (i = c->next; i < c->kept; i++)
      if (luaN_isselected(a[i])) a[i] = luaN_unselected(a[i]);
  }
  else if (c->selection == LUAN_MOVING) {
    for (i = c->next; c->selected > 0; ) {
      if (!luaN_isselected(a[--i])) continue;
      setaside(c, luaN_unselected(a[i]));
      a[i] = NULL;
      c->selected--;
    }
  }
  c->selection = LUAN_UNSELECTED;
}


size_t luaN_markfinalized (global_State *g, size_t n) {
  luaN_Gc *c = &g->heap.gc;
  size_t i = c->seenfinalized, left;
  if (i < c->nextfinalized) i = c->nextfinalized;
  left = c->tobefinalized.n - i;
  if (n > left) n = left;
  c->work += n;
  for (; n > 0; n--, i++) luaN_mark(g, (GCObject *)c->tobefinalized.a[i]);
  c->seenfinalized = i;
  return left;
}


static void callit (lua_State *L, void *ud) {
  (void)ud;
  luaD_callnoyield(L, L->top.p - 2, 0);
}


/* Calls the finalizer of the next object; errors become warnings. */
static void callfinalizer (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  GCObject *o = (GCObject *)c->tobefinalized.a[c->nextfinalized++];
  const TValue *tm;
  TValue v;
  if (c->nextfinalized == c->tobefinalized.n)
    c->nextfinalized = c->seenfinalized = c->tobefinalized.n = c->waiting =
        c->quota = 0;
  resetbit(o->marked, FINALIZEDBIT);  /* it may get one again */
  setgcovalue(L, &v, o);
  tm = luaT_gettmbyobj(L, &v, TM_GC);
  if (!notm(tm)) {
    lu_byte allowhook = L->allowhook, stopped = g->gcstp;
    int status;
    g->gcstp |= GCSTPGC;  /* no collection meanwhile */
    L->allowhook = 0;
    setobj2s(L, L->top.p++, tm);
    setobj2s(L, L->top.p++, &v);
    L->ci->callstatus |= CIST_FIN;
    status = luaD_pcall(L, callit, NULL, savestack(L, L->top.p - 2), 0);
    L->ci->callstatus &= ~CIST_FIN;
    L->allowhook = allowhook;
    g->gcstp = stopped;
    if (l_unlikely(status != LUA_OK)) {
      luaE_warnerror(L, "__gc");
      luaN_stayawake(L);  /* the warning may have run Lua elsewhere */
      L->top.p--;  /* the error object */
    }
  }
}


/*
** Where finalizers take longer than it takes to make their objects, batches that
** end by the clock would leave ever more of them waiting. So a batch makes four
** times as many calls whenever a collection finds more waiting than the one before it,
** until there are none: their time is the program's to pay. (Not while the dead of one
** collection are being put aside.)
*/
void luaN_setquota (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n = c->tobefinalized.n - c->nextfinalized;
  if (n > c->waiting && c->waiting > 0 && c->selection != LUAN_MOVING)
    c->quota = (c->quota == 0) ? QUOTA : (c->quota < n) ? 4 * c->quota : c->quota;
  c->waiting = n;
}


int luaN_callfinalizers (lua_State *L, luaN_Calls which) {
  luaN_Gc *c = &G(L)->heap.gc;
  uint64_t end = 0;
  size_t i, quota = c->quota;
  lua_assert(!G(L)->gcemergency);
  if (c->nextfinalized == c->tobefinalized.n ||
      (which != LUAN_CLOSING && !luaD_checkminstack(L)))
    return 0;
  for (i = 0; c->nextfinalized < c->tobefinalized.n; i++) {
    if (which == LUAN_BATCH && i % LOOK == LOOK - 1) {  /* so many at least */
      uint64_t now = luaN_now();
      if (end == 0) end = now + BATCH;
      else if (now >= end && i >= quota) return 1;
    }
    callfinalizer(L);
  }
  return 0;
}
