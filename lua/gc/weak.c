/* SPDX-License-Identifier: MIT */
/*
** Weak tables and ephemerons, as marking meets them (weak.h). They are kept in a list,
** tagged with their kind, until everything else is marked (termination.c).
**
** A minor collection takes every old object for alive. While a major one is
** marking, the tables that it (or a minor one) has met wait for its end.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "lgc.h"
#include "ltable.h"
#include "ltm.h"

#include "vec.h"
#include "weak.h"


/*
** A table that is being resized is strong: values that are in copies, too, must
** not be cleared in an emergency that comes meanwhile.
*/
int luaN_weakness (global_State *g, const Table *t) {
  const TValue *mode = gfasttm(g, t->metatable, TM_MODE);
  const char *s;
  if (mode == NULL || !ttisshrstring(mode) || t == g->heap.rehashing)
    return LUAN_STRONG;
  s = getshrstr(tsvalue(mode));
  return (strchr(s, 'k') ? LUAN_EPHEMERON : LUAN_STRONG) |
         (strchr(s, 'v') ? LUAN_WEAKVALUES : LUAN_STRONG);
}


int luaN_isgone (global_State *g, const TValue *v) {
  GCObject *o;
  if (!iscollectable(v)) return 0;
  o = gcvalue(v);
  if (novariant(o->tt) == LUA_TSTRING) {
    luaN_mark(g, o);
    return 0;
  }
  return luaN_white(g, o);
}


int luaN_iskeygone (global_State *g, const Node *n) {
  GCObject *o;
  if (!keyiscollectable(n)) return 0;
  o = gckey(n);
  if (novariant(o->tt) == LUA_TSTRING) {
    luaN_mark(g, o);
    return 0;
  }
  return luaN_white(g, o);
}


/* Strong keys, weak values. */
static void markkeys (global_State *g, Table *t) {
  Node *n = gnode(t, 0), *end = gnode(t, (size_t)sizenode(t));
  for (; n < end; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  }
}


int luaN_openentry (global_State *g, Node *n) {
  luaN_Gc *c = &g->heap.gc;
  if (isempty(gval(n))) luaN_clearkey(n);
  else if (!luaN_iskeygone(g, n)) luaN_markvalue(g, gval(n))
  else if (!luaN_push(g, &c->open, n)) {
    c->crowded = 1;
    return 0;
  }
  return 1;
}


/* However many minor collections meet it, too. */
int luaN_meetinmajor (global_State *g, Table *t, int kind) {
  if (t->marked & LUAN_MET) return 1;
  if (!luaN_push(g, &g->heap.gc.majorweak, luaN_tagged(t, kind))) return 0;
  t->marked |= LUAN_MET;
  return 1;
}


void luaN_meetlate (global_State *g, Table *t, int kind) {
  luaN_Gc *c = &g->heap.gc;
  if (c->marking && luaN_hascolour(t, c->colour) && !luaN_meetinmajor(g, t, kind))
    luaN_traverseslots(g, t, 0, ~0u);
}


int luaN_meetweak (global_State *g, Table *t, int kind) {
  luaN_Gc *c = &g->heap.gc;
  int slice = (c->marking && !c->minor && g->gcstate == GCSpropagate);
  if (slice) return luaN_meetinmajor(g, t, kind);
  if (!luaN_push(g, &c->weak, luaN_tagged(t, kind))) return 0;
  if (kind == LUAN_WEAKVALUES) markkeys(g, t);
  return 1;
}


void luaN_forgetweak (global_State *g) {
  luaN_Vec *v = &g->heap.gc.majorweak;
  while (v->n > 0) luaN_tableof(v->a[--v->n])->marked &= (lu_byte)~LUAN_MET;
}
