/* SPDX-License-Identifier: MIT */
/*
** Weak tables and ephemerons during marking (weak.h). Marking adds each weak table that it reaches
** to one of two lists. The weak references of these tables are visited when everything else is
** marked (termination.c). The lists:
** - weak.discovered: tables reached by the running minor collection or atomic step, which visits
**   them before it ends
** - weak.inmajor: tables reached by slices of a major collection, and marked tables that became
**   weak while the major collection runs. They stay listed until it ends. A minor collection that
**   runs before then does not visit this list, and treats the old keys and values of the tables as
**   alive.
*/

#include "lgc.h"

#include "weak.h"


/* Returns which references of t are weak. A table whose values are being copied to new vectors (a
   new array or hash part) counts as strong, because no collection may clear values in the old or
   new vectors meanwhile. */
int luaN_weakness (global_State *g, const Table *t) {
  const TValue *mode = gfasttm(g, t->metatable, TM_MODE);
  const char *s;
  if (mode == NULL || !ttisshrstring(mode) || t == g->heap.rehashing)
    return LUAN_STRONG;
  s = getshrstr(tsvalue(mode));
  return (strchr(s, 'k') ? LUAN_EPHEMERON : LUAN_STRONG) |
         (strchr(s, 'v') ? LUAN_WEAKVALUES : LUAN_STRONG);
}


/* Marks the keys of a table with strong keys and weak values. Makes keys without a value dead. */
static void markkeys (global_State *g, Table *t) {
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  for (; n < end; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  }
}


int luaN_resolveentry (global_State *g, Node *n) {
  luaN_Gc *c = &g->heap.gc;
  const TValue *v = gval(n);
  if (isempty(v)) luaN_clearkey(n);
  /* In a minor collection between the two atomic steps of a major collection, an old unmarked key
     is dead. Its old value is not marked here, because that could resurrect a dead object. The
     major collection visits the slot again. */
  else if (c->mark.minor && c->weak.decided && keyiscollectable(n) &&
           luaN_isundecided(g, gckey(n)) && iscollectable(v) && luaN_isold(gcvalue(v)))
    return 1;
  else if (!luaN_iskeygone(g, n)) luaN_markvalue(g, v)
  else if (!luaN_push(g, &c->weak.unresolved, n)) {
    c->weak.overflow = 1;
    return 0;
  }
  return 1;
}


int luaN_discoverinmajor (global_State *g, Table *t, int kind) {
  if (t->marked & LUAN_DISCOVERED) return 1;
  if (!luaN_push(g, &g->heap.gc.weak.inmajor, luaN_tagged(t, kind))) return 0;
  t->marked |= LUAN_DISCOVERED;
  return 1;
}


/* Marks all keys and values of t. Does not make the keys of empty nodes dead: a barrier may call
   this when a new node has its key and not yet its value. */
static void markall (global_State *g, Table *t) {
  unsigned i, asize = luaN_asize(t);
  for (i = 0; i < asize; i++) luaN_markvalue(g, &t->array[i]);
  for (i = 0; i < (unsigned)sizenode(t); i++) {
    Node *n = gnode(t, i);
    if (keyiscollectable(n)) luaN_mark(g, gckey(n));
    luaN_markvalue(g, gval(n));
  }
}


void luaN_discoverlate (global_State *g, Table *t, int kind) {
  luaN_Gc *c = &g->heap.gc;
  if (c->mark.major && luaN_hasepoch(t, c->mark.epoch) && !luaN_discoverinmajor(g, t, kind))
    markall(g, t);
}


int luaN_discoverweak (global_State *g, Table *t, int kind) {
  luaN_Gc *c = &g->heap.gc;
  int slice = (c->mark.major && !c->mark.minor && g->gcstate == GCSpropagate);
  if (slice) return luaN_discoverinmajor(g, t, kind);
  if (!luaN_push(g, &c->weak.discovered, luaN_tagged(t, kind))) return 0;
  if (kind == LUAN_WEAKVALUES) markkeys(g, t);
  return 1;
}


/* Restores the tombstoned weak values of t (hidden.h), or clears those of dead objects. Removes
   entries with dead keys. Does not make the keys of other empty nodes dead: a barrier may call this
   when a new node has its key and not yet its value. */
static void showslots (global_State *g, Table *t) {
  const luaN_Gc *c = &g->heap.gc;
  unsigned i, asize = luaN_asize(t);
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  if (c->weak.hidden == 0 && !c->sweep.active) return;
  for (i = 0; i < asize; i++)
    if (luaN_ishidden(&t->array[i])) luaN_showslot(g, &t->array[i]);
  for (; n < end; n++) {
    int gone = (luaN_ishidden(gval(n)) && !luaN_showslot(g, gval(n)));
    if (keyiscollectable(n) && isdead(g, gckey(n))) {
      setempty(gval(n));
      gone = 1;
    }
    if (gone) luaN_clearkey(n);
  }
}


void luaN_forgettable (global_State *g, Table *t) {
  if (t->flags & LUAN_SCANNED) showslots(g, t);
  t->marked &= (lu_byte)~LUAN_DISCOVERED;
  t->flags &= (lu_byte)~LUAN_SCANNED;
}


Table *luaN_tablebefore (const luaN_Vec *d, size_t k) {
  while (k > 0 && luaN_kindof(d->a[k - 1]) != 1) k--;
  return (k > 0) ? luaN_tableof(d->a[k - 1]) : NULL;
}


void luaN_beginlist (luaN_Weak *w, unsigned list) {
  w->again = (lu_byte)list;
  w->doubt = w->doubtkept = (list == LUAN_DOUBTVALUES) ? w->hidden : 0;
  w->keptof = w->doubtof = luaN_tablebefore(&w->doubtful[list], w->doubt);
}


void luaN_forgetweak (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = &c->weak.inmajor;
  while (v->n > 0) {
    Table *t = luaN_tableof(v->a[--v->n]);
    t->marked &= (lu_byte)~LUAN_DISCOVERED;
    t->flags &= (lu_byte)~LUAN_SCANNED;
  }
  c->weak.doubtful[LUAN_DOUBTKEYS].n = c->weak.doubtful[LUAN_DOUBTVALUES].n = 0;
  luaN_beginlist(&c->weak, LUAN_DOUBTKEYS);
  c->weak.hidden = c->weak.resolved = 0;
  c->weak.doubting = c->weak.decided = c->weak.logging = 0;
  c->weak.visited = 0;
  c->weak.next = c->weak.slot = 0;
  c->weak.rescans = c->weak.passes = 0;
}


void luaN_leaveweak (global_State *g) {
  const luaN_Vec *v = &g->heap.gc.weak.inmajor;
  size_t i;
  for (i = 0; i < v->n; i++) luaN_forgettable(g, luaN_tableof(v->a[i]));
  luaN_forgetweak(g);
}


/* {== entries visited before the atomic step ============================ */

/* Limits how often the slices of one major collection may visit all weak tables again because one
   of them was resized. When the limit is reached, the atomic step visits a resized table. A higher
   limit costs more time if a program resizes weak tables repeatedly. */
#define MAX_RESCANS	16u


int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst) {
  luaN_Vec *d = &g->heap.gc.weak.doubtful[list];
  if (d->n > UINT_MAX - 2 || !luaN_reserve(g, d, 2)) return 0;
  if (isfirst) d->a[d->n++] = luaN_tagged(t, 1);
  d->a[d->n++] = slot;
  return 1;
}


/* Returns 1 if slices have visited a part of the weak table t, but not yet all of it. */
static int isinhand (const luaN_Gc *c, const Table *t) {
  return c->weak.slot > 0 && luaN_tableof(c->weak.inmajor.a[c->weak.next]) == t;
}


void luaN_lookonce (global_State *g, Table *t) {
  luaN_Gc *c = &g->heap.gc;
  if (!(t->marked & LUAN_DISCOVERED) || !((t->flags & LUAN_SCANNED) || isinhand(c, t)))
    return;
  if (t->flags & LUAN_SCANNED) showslots(g, t);
  t->flags &= (lu_byte)~LUAN_SCANNED;
  if (c->sweep.active) return;
  if (c->weak.rescans < MAX_RESCANS) {
    c->weak.rescans++;
    c->weak.next = 0;
  }
  else if (isinhand(c, t)) c->weak.next++;  /* so slices skip t; the atomic step visits it */
  else return;
  c->weak.slot = 0;
}


void luaN_doubt (global_State *g, Table *t, void *slot) {
  const luaN_Gc *c = &g->heap.gc;
  unsigned i, asize = luaN_asize(t);
  const Node *n;
  const TValue *v;
  if (!c->mark.major || !(t->marked & LUAN_DISCOVERED) ||
      !((t->flags & LUAN_SCANNED) || isinhand(c, t)) ||
      !luaN_slotof(t, asize, slot, &i))
    return;
  n = (i < asize) ? NULL : gnode(t, i - asize);
  v = (n == NULL) ? &t->array[i] : gval(n);
  if (((iscollectable(v) && luaN_isundecided(g, gcvalue(v))) ||
       (n != NULL && keyiscollectable(n) && luaN_isundecided(g, gckey(n)))) &&
      !(luaN_listdoubt(g, LUAN_DOUBTKEYS, t, (void *)v, 1) &&
        luaN_listdoubt(g, LUAN_DOUBTVALUES, t, (void *)v, 1)))
    luaN_lookonce(g, t);
}

/* }===================================================================== */
