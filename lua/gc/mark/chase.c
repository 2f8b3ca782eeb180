/* SPDX-License-Identifier: MIT */
/* Resolves ephemerons from their keys (chase.h). During a chase, each object that becomes marked
   and can be a weak key is pushed on a mark stack. When the object is popped, it is looked up as a
   key. Strings are not pushed, because weak tables refer to them strongly. */

#include "lgc.h"

#include "chase.h"
#include "traverse.h"
#include "weak.h"


int luaN_beginchase (global_State *g, luaN_Chase *x, size_t n) {
  size_t heads = 16;
  while (heads < n) heads *= 2;
  memset(x, 0, sizeof(*x));
  if (luaN_reserve(g, &x->heads, heads) && luaN_reserve(g, &x->entries, 2 * n)) {
    memset(x->heads.a, 0, heads * sizeof(*x->heads.a));
    x->heads.n = heads;
    g->heap.gc.weak.chasing = 1;
    return 1;
  }
  luaN_freevec(g, &x->heads);
  return 0;
}


static void **headof (const luaN_Chase *x, const GCObject *o) {
  uint64_t h = (uint64_t)(uintptr_t)o / LUAN_GRANULE * UINT64_C(0x9E3779B97F4A7C15);
  return &x->heads.a[(h >> 32) & (x->heads.n - 1)];
}


void luaN_follow (global_State *g, luaN_Chase *x, Node *n) {
  luaN_Vec *v = &x->entries;
  if (isempty(gval(n))) return;
  if (!luaN_iskeygone(g, n)) luaN_markvalue(g, gval(n))
  else {
    void **head = headof(x, gckey(n));
    lua_assert(v->n + 2 <= v->size);
    v->a[v->n++] = n;
    v->a[v->n++] = *head;
    *head = (void *)(v->n / 2);
  }
}


/* Marks the values of those entries of x whose key is o, which was just popped from a mark
   stack. */
static void arrive (global_State *g, const luaN_Chase *x, const GCObject *o) {
  uintptr_t i = (uintptr_t)*headof(x, o);
  while (i != 0) {
    const Node *n = (const Node *)x->entries.a[2 * (i - 1)];
    i = (uintptr_t)x->entries.a[2 * (i - 1) + 1];
    if (gckey(n) == o) luaN_markvalue(g, gval(n));
  }
}


/* Pops a marked object from mark.young or, outside minor collections, from mark.old. Returns NULL
   if there is none. */
static GCObject *nextmarked (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->mark.young.n > 0) return (GCObject *)c->mark.young.a[--c->mark.young.n];
  if (!c->mark.minor && c->mark.old.n > 0) return (GCObject *)c->mark.old.a[--c->mark.old.n];
  return NULL;
}


int luaN_endchase (global_State *g, luaN_Chase *x) {
  GCObject *o;
  int complete;
  while ((o = nextmarked(g)) != NULL) {
    luaN_traverse(g, o);
    arrive(g, x, o);
  }
  complete = !g->heap.gc.mark.pending;
  g->heap.gc.weak.chasing = 0;
  luaN_drain(g, !g->heap.gc.mark.minor);
  luaN_freevec(g, &x->heads);
  luaN_freevec(g, &x->entries);
  return complete;
}
