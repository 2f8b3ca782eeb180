/* SPDX-License-Identifier: MIT */
/*
** The end of marking (termination.h). Steps:
**   1. Visit each ephemeron table that slices have not visited (ahead.h), and list its entries with
**      unmarked keys. Make passes over the listed entries until no value is left to mark. If
**      MAX_PASSES passes are not enough and at least MIN_FOLLOWED entries are listed, find the
**      entries by their keys instead (chase.h).
**   2. Remove entries with dead values.
**   3. Queue the dead objects with finalizers, and mark everything that they refer to. Then repeat
**      step 1, because keys may have been marked.
**   4. Remove entries with dead keys.
*/

#include "lgc.h"

#include "ahead.h"
#include "chase.h"
#include "finalize.h"
#include "interned.h"
#include "pace.h"
#include "remset.h"
#include "termination.h"
#include "traverse.h"
#include "waiting.h"
#include "weak.h"

/* Sets bytes.undoomed to the KiB of the marked objects. To be called when everything reachable is
   marked, but no object that is reachable only from dead objects with finalizers. */
#define setundoomed(c)	((c)->bytes.undoomed = (unsigned)((c)->mark.reached / 1024))

/*
** The list weak.unresolved has the ephemeron entries with unmarked keys. 'converge' makes passes
** over it, because later marking may reach the keys. If at least MIN_FOLLOWED entries are left
** after MAX_PASSES passes, a hash table finds the entries by their keys instead (chase.h). The hash
** table costs more than one pass, but its time is linear, whereas a chain of entries (the value of
** one is the key of the next) may need as many passes as it has entries.
*/
#define MAX_PASSES	2
#define MIN_FOLLOWED(c)	((size_t)(luaN_slicestress(c) != 0 ? 2 : 64))


/* Marks each value in the hash part of t that has a marked key. Returns 1 if it marked a value. */
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


/* Visits ephemeron table t for the first time: marks the values of marked keys, and adds the
   entries with unmarked keys to weak.unresolved. If weak.unresolved cannot grow, sets
   weak.overflow. */
static void resolvetable (global_State *g, Table *t) {
  unsigned i, asize = luaN_asize(t);
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  g->heap.gc.pause.looked[LUAN_LWEAK] += asize + (size_t)sizenode(t);
  for (i = 0; i < asize; i++) luaN_markvalue(g, &t->array[i]);
  for (; n < end; n++) (void)luaN_resolveentry(g, n);
}


/* Visits the entries of ephemerons in weak.unresolved, whose keys were unmarked at the last visit.
   If a key is marked now, marks the value and everything to which the value refers, and removes the
   entry from the list. Returns the number of removed entries. */
static size_t resolveentries (global_State *g) {
  luaN_Vec *o = &g->heap.gc.weak.unresolved;
  size_t i, left = 0, before = o->n;
  g->heap.gc.pause.looked[LUAN_LWEAK] += before;
  for (i = 0; i < before; i++) {
    Node *n = (Node *)o->a[i];
    if (luaN_iskeygone(g, n)) continue;
    o->a[i] = NULL;
    luaN_markvalue(g, gval(n));
    luaN_drain(g, !g->heap.gc.mark.minor);
  }
  for (i = 0; i < before; i++)
    if (o->a[i] != NULL) o->a[left++] = o->a[i];
  o->n = left;
  return before - left;
}


/* Builds a hash table of the entries in weak.unresolved by their keys, and marks the values of
   marked keys (chase.h). Returns 1 if afterwards no marked key has an unmarked value; 0 if some may
   have one. Does nothing and returns 0 if there are too few entries or no memory. */
static int follow (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  /* 1: the hash table also gets the entries with unmarked keys that slices have listed (ahead.h).
     These entries are unnecessary while weak.logging is 1: then every marked object is logged, and
     the atomic step looks up each logged object as a key of these entries. */
  int doubtful = (!c->mark.minor && !c->weak.logging);
  size_t i, n = c->weak.unresolved.n + (doubtful ? c->weak.doubtful[LUAN_DOUBTKEYS].n : 0);
  luaN_Chase x;
  if (n < MIN_FOLLOWED(c) || !luaN_beginchase(g, &x, n)) return 0;
  c->pause.looked[LUAN_LWEAK] += n;
  for (i = 0; i < c->weak.unresolved.n; i++) luaN_follow(g, &x, (Node *)c->weak.unresolved.a[i]);
  if (doubtful) luaN_followdoubtful(g, &x);
  return luaN_endchase(g, &x);
}


/* A number that grows when an object is marked, or is reached and left young (ageing.h). If two
   reads give the same number, no key was marked between them. */
#define clockof(c)	((c)->mark.reached + (l_mem)((c)->bytes.tenured + (c)->mark.met))


/* Marks the values of ephemerons until no marked key has an unmarked value.
   *first  index in weak.discovered of the first table that was not visited
   *clock  value of clockof when the unresolved entries were last visited; they are visited again
           only if clockof has changed */
static void converge (global_State *g, size_t *first, l_mem *clock) {
  luaN_Vec *w = &g->heap.gc.weak.discovered;
  luaN_Gc *c = &g->heap.gc;
  int changed, passes = 0;
  do {
    size_t i;
    for (; *first < w->n; ++*first) {  /* the list may grow in the loop */
      if (luaN_kindof(w->a[*first]) == LUAN_EPHEMERON) {
        resolvetable(g, luaN_tableof(w->a[*first]));
        luaN_drain(g, !g->heap.gc.mark.minor);
      }
    }
    changed = 0;
    if (clockof(c) != *clock) {
      *clock = clockof(c);
      changed = (resolveentries(g) > 0);
      if (!c->mark.minor && luaN_resolvedoubtful(g)) {
        changed = 1;
        /* makes the loop visit the entries once more */
        if (!c->weak.logging) *clock = clockof(c) - 1;
      }
      passes = (changed && ++passes >= MAX_PASSES && follow(g)) ? 0 : passes;
    }
    for (i = 0; c->weak.overflow && i < *first; i++) {
      if (luaN_kindof(w->a[i]) == LUAN_EPHEMERON && markvalues(g, luaN_tableof(w->a[i]))) {
        luaN_drain(g, !c->mark.minor);
        changed = 1;
      }
    }
  } while (changed || *first < w->n);
}


/* Removes entries with dead values from the tables of weak.discovered, from index i on. */
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
** Removes entries with dead keys: those left in weak.unresolved, and those of tables with weak keys
** and weak values. If weak.unresolved is incomplete (weak.overflow), visits all ephemeron tables of
** weak.discovered.
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
** Moves from weak.inmajor to weak.discovered the weak tables that the atomic step must visit: those
** that slices of the major collection have not visited completely, and those whose __mode has
** changed since they were listed. Traverses such a table as strong if it is strong now, or if there
** is no memory for the list.
*/
static void joinmajor (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t i, kept = 0;
  for (i = 0; i < c->weak.inmajor.n; i++) {
    Table *t = luaN_tableof(c->weak.inmajor.a[i]);
    int kind = luaN_weakness(g, t);  /* which references of t are weak now */
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


/* Adds the tables of weak.discovered to weak.inmajor, so that later slices of the major collection
   visit them. If weak.inmajor cannot grow, traverses the table as strong; the traversal may append
   tables to weak.discovered. */
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


/* Marks everything that is alive, and removes the entries with dead values from weak tables.
   Leaves tombstoned values (hidden.h), whose slots look empty already.
   *first  set to the index in weak.discovered of the first table that was not visited
   *clock  set to the value of clockof at the last visit of the unresolved entries */
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


/* Returns the number of listed entries of weak tables whose keys are unmarked. findresurrected
   calls it before and after it marks everything to which dead objects with finalizers refer. If the
   second result is lower, only such dead objects keep some key alive. The next major collection can
   remove the entry of that key, so it starts earlier (weak.resurrected). */
static size_t countdead (const luaN_Gc *c) {
  return c->weak.unresolved.n + (c->mark.minor ? 0 : c->weak.doubtful[LUAN_DOUBTKEYS].n);
}


/* Returns 1 if there may be tables with weak keys and weak values, whose entries countdead does not
   count. To be called after luaN_clearslots. */
static int hasallweak (const luaN_Gc *c) {
  size_t i;
  if (c->mark.minor && c->remset.slots.n > 0) return 1;
  for (i = 0; i < c->weak.discovered.n; i++)
    if (luaN_kindof(c->weak.discovered.a[i]) == LUAN_ALLWEAK) return 1;
  return 0;
}


/*
** To be called after dead objects were queued for their finalizers. Marks everything that is
** reachable from these objects, and then removes entries with dead keys from weak tables. (In
** tables that slices of a major collection have visited, later slices remove these entries.)
**
** Only queued objects refer to the tables of weak.discovered from index 'nalive' on; in these
** tables, removes the entries with dead values, too.
**
** *first  index in weak.discovered of the first table that was not visited
** *clock  value of clockof at the last visit of the unresolved entries
*/
static void findresurrected (global_State *g, size_t *first, size_t nalive, l_mem *clock) {
  luaN_Gc *c = &g->heap.gc;
  size_t dead = countdead(c);
  luaN_drain(g, !c->mark.minor);
  converge(g, first, clock);
  if (c->finalize.found && (countdead(c) < dead || hasallweak(c))) c->weak.resurrected = 1;
  c->finalize.found = 0;
  if (c->mark.minor) luaN_clearslots(g, 1);
  clearkeys(g);
  clearvalues(g, nalive);
  luaN_drain(g, 0);  /* empties the mark stack; the objects on it refer to no young objects */
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


/* Ends this atomic step although objects are left to mark, so that the pause stays short: slices
   continue to mark, and a later atomic step ends the marking. Returns 0, as luaN_terminateslice
   does. */
static int termination_leave (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  leavetomajor(g);
  c->weak.discovered.n = c->weak.unresolved.n = 0;
  c->weak.overflow = 0;
  return 0;
}


/* If more than LUAN_ATONCE objects have finalizers, starts the phase in which slices find the dead
   ones, and returns 0. Otherwise queues the dead ones now, and marks objects reachable from them
   until the cost is about LUAN_SLICE bytes. Returns 1 if the mark stacks are empty then, else 0. */
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


/* Runs an atomic step of a major collection. Returns 1 if it has ended the marking, else 0
   (termination.h). After a result of 0, the program runs until the next atomic step. It may read
   unmarked strings and unmarked keys from weak tables, and store them elsewhere; the next minor
   collection marks each object that was stored in this way. */
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
