/* SPDX-License-Identifier: MIT */
/*
** The end of marking (termination.h), in this order:
**
**   1. Visit each ephemeron table that slices have not visited (ahead.h) once, and list its entries
**      whose keys are not marked so far. Visit these entries again until no value is left to mark,
**      or find them by their keys (chase.h).
**   2. Remove the entries with dead values.
**   3. Queue the dead objects with finalizers, and mark everything that they refer to. This may
**      also mark keys, so step 1 continues.
**   4. Remove the entries with dead keys.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"
#include "ltable.h"

#include "ahead.h"
#include "chase.h"
#include "finalize.h"
#include "remembered.h"
#include "interned.h"
#include "pace.h"
#include "termination.h"
#include "traverse.h"
#include "vec.h"
#include "waiting.h"
#include "weak.h"

/* Records in bytes.undoomed how many KiB were marked so far. To be used before the objects that
   only finalizers keep are marked. */
#define setundoomed(c)	((c)->bytes.undoomed = (unsigned)((c)->mark.reached / 1024))

/*
** Ephemerons whose keys are not marked so far are visited repeatedly. After MAX_PASSES such visits
** of all of them, each of which has found keys that were marked meanwhile, the rest is found by the
** keys (a chase, chase.h), if at least MIN_FOLLOWED entries are left. A chase costs more than one
** visit of all entries, but its cost is linear in the number of entries, whatever their order is.
*/
#define MAX_PASSES	2
#define MIN_FOLLOWED(c)	((size_t)(luaN_slicestress(c) != 0 ? 2 : 64))


/* Marks the values in the hash part of t whose keys are marked. Returns 1 if it has marked a
   value. */
static int markvalues (global_State *g, Table *t) {
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  int changed = 0;
  for (; n < end; n++) {
    const TValue *v = gval(n);
    if (iscollectable(v) && luaN_white(g, gcvalue(v)) && !luaN_iskeygone(g, n)) {
      luaN_mark(g, gcvalue(v));
      changed = 1;
    }
  }
  return changed;
}


/* Visits ephemeron table t for the first time: marks the values whose keys are marked, and adds
   the other entries to weak.unresolved. If there is no memory for that, sets weak.overflow, so
   that converge visits whole tables repeatedly. */
static void resolvetable (global_State *g, Table *t) {
  unsigned i, asize = luaN_asize(t);
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  g->heap.gc.pause.looked[LUAN_LWEAK] += asize + (size_t)sizenode(t);
  for (i = 0; i < asize; i++) luaN_markvalue(g, &t->array[i]);
  for (; n < end; n++) (void)luaN_resolveentry(g, n);
}


/* Marks the values of the entries in weak.unresolved whose keys are marked now, with everything
   that the values refer to, and removes these entries from the list. Returns their number. Visits
   the list from its end if 'backwards' is 1. */
static size_t resolveentries (global_State *g, int backwards) {
  luaN_Vec *o = &g->heap.gc.weak.unresolved;
  size_t i, left = 0, before = o->n;
  g->heap.gc.pause.looked[LUAN_LWEAK] += before;
  for (i = 0; i < before; i++) {
    void **p = &o->a[backwards ? before - 1 - i : i];
    Node *n = (Node *)*p;
    if (luaN_iskeygone(g, n)) continue;
    *p = NULL;
    luaN_markvalue(g, gval(n));
    luaN_drain(g, !g->heap.gc.mark.minor);
  }
  for (i = 0; i < before; i++)
    if (o->a[i] != NULL) o->a[left++] = o->a[i];
  o->n = left;
  return before - left;
}


/* Marks the values of the unresolved entries whose keys become marked, by a hash table of the
   keys (a chase, chase.h). Returns 1 if all values with live keys are marked, 0 if some may have
   been missed. Returns 0 and does nothing if there are fewer than MIN_FOLLOWED entries or no
   memory. */
static int follow (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  /* In a major collection that does not log marked objects (weak.logging), the chase also has the
     entries that slices have listed because their weak keys were not marked (ahead.h). */
  int doubtful = (!c->mark.minor && !c->weak.logging);
  size_t i, n = c->weak.unresolved.n + (doubtful ? c->weak.doubtful[LUAN_DOUBTKEYS].n : 0);
  luaN_Chase x;
  if (n < MIN_FOLLOWED(c) || !luaN_beginchase(g, &x, n)) return 0;
  c->pause.looked[LUAN_LWEAK] += n;
  for (i = 0; i < c->weak.unresolved.n; i++) luaN_follow(g, &x, (Node *)c->weak.unresolved.a[i]);
  if (doubtful) luaN_followdoubtful(g, &x);
  return luaN_endchase(g, &x);
}


/* A number that changes whenever marking may make a key alive: it grows by the bytes of each marked
   object, and by 1 for an object that is left young. */
#define clockof(c)	((c)->mark.reached + (l_mem)((c)->bytes.tenured + (c)->mark.met))


/* Marks until no ephemeron has a value left to mark. '*first' is the index in weak.discovered of
   the first table that resolvetable has not visited. '*clock' is the value of clockof at the
   last visit of the listed entries with unmarked keys: until clockof changes, these entries need
   no visit. */
static void converge (global_State *g, size_t *first, l_mem *clock) {
  luaN_Vec *w = &g->heap.gc.weak.discovered;
  luaN_Gc *c = &g->heap.gc;
  int changed, passes = 0, backwards = 0;
  do {
    size_t i;
    for (; *first < w->n; ++*first) {  /* the list may grow in the loop */
      if (luaN_kindof(w->a[*first]) == LUAN_EPHEMERON) {
        resolvetable(g, luaN_tableof(w->a[*first]));
        luaN_drain(g, !g->heap.gc.mark.minor);
      }
    }
    backwards = !backwards;
    changed = 0;
    if (clockof(c) != *clock) {
      *clock = clockof(c);
      changed = (resolveentries(g, backwards) > 0);
      if (!c->mark.minor && luaN_resolvedoubtful(g)) {
        changed = 1;
        if (!c->weak.logging) *clock = clockof(c) - 1;  /* forces one more visit of the entries */
      }
      passes = (changed && ++passes >= MAX_PASSES && follow(g)) ? 0 : passes;
    }
    for (i = 0; c->weak.overflow && i < *first; i++) {
      if (luaN_kindof(w->a[i]) == LUAN_EPHEMERON &&
          markvalues(g, luaN_tableof(w->a[i]))) {
        luaN_drain(g, !c->mark.minor);
        changed = 1;
      }
    }
  } while (changed || *first < w->n);
}


/* Removes entries with dead values from the tables with weak values that are in weak.discovered,
   from index i on. */
static void clearvalues (global_State *g, size_t i) {
  luaN_Vec *w = &g->heap.gc.weak.discovered;
  for (; i < w->n; i++) {
    Table *t = luaN_tableof(w->a[i]);
    unsigned k, asize = luaN_asize(t);
    Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
    if (!(luaN_kindof(w->a[i]) & LUAN_WEAKVALUES)) continue;
    g->heap.gc.pause.looked[LUAN_LWEAK] += asize + (size_t)sizenode(t);
    for (k = 0; k < asize; k++)
      if (luaN_isgone(g, &t->array[k])) setempty(&t->array[k]);
    for (; n < end; n++) {
      if (!isempty(gval(n)) && luaN_isgone(g, gval(n))) setempty(gval(n));
      if (isempty(gval(n))) luaN_clearkey(n);
    }
  }
}


/*
** Removes the entries with dead keys from the tables of weak.discovered:
**   - the entries that are still in weak.unresolved, because their keys were never marked
**   - entries of tables whose keys and values are weak
**   - if weak.overflow is set, because weak.unresolved could not grow, entries of all ephemeron
**     tables
*/
static void clearkeys (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *w = &c->weak.discovered, *o = &c->weak.unresolved;
  size_t i;
  for (i = 0; i < o->n; i++) {
    Node *n = (Node *)o->a[i];
    setempty(gval(n));
    luaN_clearkey(n);
  }
  if (c->mark.minor) c->weak.tenured -= (o->n < c->weak.tenured) ? o->n : c->weak.tenured;
  o->n = 0;
  for (i = 0; i < w->n; i++) {
    Table *t = luaN_tableof(w->a[i]);
    Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
    if (luaN_kindof(w->a[i]) != LUAN_ALLWEAK &&
        !(c->weak.overflow && luaN_kindof(w->a[i]) == LUAN_EPHEMERON)) continue;
    for (; n < end; n++) {
      if (!isempty(gval(n)) && luaN_iskeygone(g, n)) setempty(gval(n));
      if (isempty(gval(n))) luaN_clearkey(n);
    }
  }
}


/*
** Moves from weak.inmajor to weak.discovered the weak tables whose entries the atomic step must
** visit. Traverses a table as strong instead if it has become strong, or if weak.discovered
** cannot grow. The tables are
**   - those that slices have not visited completely (without LUAN_SCANNED)
**   - those in which other references are weak now than when slices visited them
*/
static void joinmajor (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i, kept = 0;
  for (i = 0; i < c->weak.inmajor.n; i++) {
    Table *t = luaN_tableof(c->weak.inmajor.a[i]);
    int kind = luaN_weakness(g, t);  /* which references are weak at present */
    if ((t->flags & LUAN_SCANNED) && kind == luaN_kindof(c->weak.inmajor.a[i])) {
      c->weak.inmajor.a[kept++] = c->weak.inmajor.a[i];
      continue;
    }
    luaN_forgettable(g, t);
    if (kind == LUAN_STRONG || !luaN_discoverweak(g, t, kind))
      luaN_traverseslots(g, t, 0, ~0u);
  }
  c->weak.inmajor.n = c->weak.next = kept;
  c->weak.slot = 0;
}


/* Adds the tables of weak.discovered to weak.inmajor, for later slices. If weak.inmajor cannot
   grow, traverses the table as strong, which may append more tables to weak.discovered during
   the loop. */
static void leavetomajor (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  for (i = 0; i < c->weak.discovered.n; i++) {
    Table *t = luaN_tableof(c->weak.discovered.a[i]);
    if (!luaN_discoverinmajor(g, t, luaN_kindof(c->weak.discovered.a[i]))) {
      luaN_traverseslots(g, t, 0, ~0u);
      luaN_drain(g, 0);
    }
  }
}


/* Marks everything that is alive, and removes the dead weak values whose slots are not
   tombstoned (steps 1 and 2 of the head; a tombstoned slot looks empty, hidden.h). 'first' and
   'clock' are passed to converge. */
static void findalive (global_State *g, size_t *first, l_mem *clock) {
  luaN_Gc *c = &g->heap.gc;
  *clock = clockof(c) - 1;
  if (!c->mark.minor) joinmajor(g);
  luaN_drain(g, !c->mark.minor);
  converge(g, first, clock);
  clearvalues(g, 0);
  if (c->mark.minor) luaN_clearslots(g, 0);
  else luaN_cleardoubtful(g);
}


/* Returns the number of listed entries with unmarked keys: those of weak.unresolved and, in a
   major collection, the words of the list that slices have made. Its use: if the number falls
   while the queued objects with finalizers are marked, with everything that they refer to, a
   dead key was marked, too. */
static size_t countdead (const luaN_Gc *c) {
  return c->weak.unresolved.n + (c->mark.minor ? 0 : c->weak.doubtful[LUAN_DOUBTKEYS].n);
}


/* Returns 1 if a dead key may have been marked without a change of countdead, because there is a
   table with weak keys and weak values. Such a table is in weak.discovered or, in a minor
   collection, has a slot in remset.slots. To be called after luaN_clearslots, which removes the
   slots with dead values. */
static int hasallweak (const luaN_Gc *c) {
  size_t i;
  if (c->mark.minor && c->remset.slots.n > 0) return 1;
  for (i = 0; i < c->weak.discovered.n; i++)
    if (luaN_kindof(c->weak.discovered.a[i]) == LUAN_ALLWEAK) return 1;
  return 0;
}


/* Marks everything that the queued dead objects with finalizers refer to, and removes the
   entries with dead keys (steps 3 and 4 of the head). For tables with LUAN_SCANNED, which slices
   have visited, slices remove these entries. Some tables were reached only from the queued
   objects: weak.discovered from index 'nalive' on. Also removes the entries with dead values
   from these tables. */
static void findresurrected (global_State *g, size_t *first, size_t nalive,
                             l_mem *clock) {
  luaN_Gc *c = &g->heap.gc;
  size_t dead = countdead(c);
  luaN_drain(g, !c->mark.minor);
  converge(g, first, clock);
  if (c->finalize.found && (countdead(c) < dead || hasallweak(c))) c->weak.resurrected = 1;
  c->finalize.found = 0;
  if (c->mark.minor) luaN_clearslots(g, 1);
  clearkeys(g);
  clearvalues(g, nalive);
  luaN_drain(g, 0);  /* pops objects that luaN_tenuremet has tenured: they refer to nothing young */
  if (!c->mark.minor) luaN_beginclearing(g);
  else if (c->mark.major) leavetomajor(g);
  lua_assert(c->mark.young.n == 0 && !c->mark.pending && c->weak.unresolved.n == 0);
  c->weak.discovered.n = 0;
  c->weak.overflow = 0;
  luaN_clearcache(g);
}


void luaN_terminate (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i, nalive, first = 0;
  l_mem clock;
  findalive(g, &first, &clock);
  nalive = c->weak.discovered.n;
  if (!c->mark.minor) setundoomed(c);
  i = c->finalize.tobefinalized.n;
  luaN_selectfinalizable(L, 0);
  for (; i < c->finalize.tobefinalized.n; i++) {
    GCObject *o = (GCObject *)c->finalize.tobefinalized.a[i];
    if (!luaN_waits(g, o)) luaN_mark(g, o);
  }
  findresurrected(g, &first, nalive, &clock);
}


/* Leaves the rest of the end of marking to another atomic step. Returns 0. */
static int termination_leave (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  leavetomajor(g);
  c->weak.discovered.n = c->weak.unresolved.n = 0;
  c->weak.overflow = 0;
  return 0;
}


/* Queues the dead objects with finalizers and marks everything that they refer to, if at most
   LUAN_ATONCE objects have finalizers. Returns 1 if one slice of marking (LUAN_SLICE) was
   enough. If more objects have finalizers, prepares slices to find and queue the dead ones, and
   returns 0. */
static int selectfew (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  if (c->finalize.finalizable.v.n > LUAN_ATONCE || luaN_slicestress(c) != 0) {
    luaN_beginselection(c);
    return 0;
  }
  luaN_selectfinalizable(L, 0);
  c->finalize.selection = LUAN_RESURRECTING;
  return luaN_markslice(G(L), LUAN_SLICE);
}


/* The program runs between this step and the next one, if this step does not end the marking.
   The program can reach only two kinds of unmarked objects then: strings and keys of weak
   tables. If it stores such an object, the next minor collection marks the object. */
int luaN_terminateslice (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t nalive, first = 0;
  l_mem clock;
  findalive(g, &first, &clock);
  if (luaN_decide(g)) return termination_leave(g);
  nalive = c->weak.discovered.n;
  if (c->finalize.selection == LUAN_UNSELECTED) setundoomed(c);
  if (c->finalize.selection == LUAN_UNSELECTED && !selectfew(L)) {
    luaN_begindoubting(&c->weak);
    return termination_leave(g);
  }
  findresurrected(g, &first, nalive, &clock);
  return 1;
}
