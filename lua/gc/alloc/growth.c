/* SPDX-License-Identifier: MIT */
/* Allocates and frees the growth buffer: the next, larger hash part of a table that is nearly full
   (growth.h). */

#include "lgc.h"
#include "ltable.h"

#include "growth.h"
#include "host.h"


static size_t nodebytes (const luaN_Growth *w) {
  return 2 * (size_t)w->size * sizeof(Node);
}


static size_t copyofbytes (const luaN_Growth *w) {
  return (size_t)w->size * sizeof(uint32_t);
}


/* Allocates n bytes from lua_Alloc for a growth buffer (the next, larger hash part of a table);
   returns NULL if there is no memory. The bytes count as in use, but not for GCdebt: they do not
   make the next collection due earlier. */
static void *growth_take (global_State *g, size_t n) {
  void *p = luaN_ask(g, NULL, 0, n);
  if (p != NULL) {
    g->heap.gc.bytes.explicit += luaN_round(n);
    g->totalbytes += (l_mem)luaN_round(n);
  }
  return p;
}


/* Subtracts n bytes, rounded up to 8, from the bytes in use and from the bytes of explicit memory
   (memory that is freed by explicit calls, not by a collection). */
static void growth_uncount (global_State *g, size_t n) {
  g->heap.gc.bytes.explicit -= luaN_round(n);
  g->totalbytes -= (l_mem)luaN_round(n);
}


static void giveback (global_State *g, void *p, size_t n) {
  if (p == NULL) return;
  growth_uncount(g, n);
  luaN_ask(g, p, n, 0);
}


luaN_Growth *luaN_growthof (global_State *g, const Table *t) {
  return (g->heap.gc.growth.t == t) ? &g->heap.gc.growth : NULL;
}


void luaN_begingrowth (global_State *g, Table *t, unsigned left) {
  luaN_Growth *w = &g->heap.gc.growth;
  if (w->t != NULL || g->heap.blocks.ceiling != 0 || g->heap.limits != NULL) return;
  memset(w, 0, sizeof(*w));
  w->t = t;
  w->old = t->node;
  w->size = (unsigned)sizenode(t);
  w->from = left;
  w->iswanted = 1;
  w->node = (Node *)growth_take(g, nodebytes(w));
  w->copyof = (w->node == NULL) ? NULL : (uint32_t *)growth_take(g, copyofbytes(w));
  if (w->copyof == NULL) luaN_endgrowth(g);
  else w->lastfree = w->node + 2 * (size_t)w->size;
}


int luaN_adoptgrowth (lua_State *L, luaN_Growth *w) {
  global_State *g = G(L);
  Node *node = w->node;
  size_t n = nodebytes(w);
  if (g->heap.limits != NULL && n > luaN_left(g)) return 0;
  if (!luaN_reserve(g, &g->heap.gc.lists.tables.v, 1)) return 0;
  growth_uncount(g, n);
  g->heap.resizing = w->t;
  luaN_countlate(L, node, n, LUAN_VHASH);
  w->node = NULL;
  return 1;
}


void luaN_endgrowth (global_State *g) {
  luaN_Growth *w = &g->heap.gc.growth;
  giveback(g, w->node, nodebytes(w));
  giveback(g, w->copyof, copyofbytes(w));
  memset(w, 0, sizeof(*w));
}


void luaN_leavegrowth (global_State *g, const Table *t) {
  if (luaN_growthof(g, t) != NULL) luaN_endgrowth(g);
}


void luaN_dropidle (global_State *g) {
  luaN_Growth *w = &g->heap.gc.growth;
  if (!w->iswanted) luaN_endgrowth(g);
  else w->iswanted = 0;
}


void luaN_dropdead (global_State *g) {
  const Table *t = g->heap.gc.growth.t;
  if (t != NULL && luaN_white(g, t)) luaN_endgrowth(g);
}


/* {== invariants ======================================================== */

/* Returns 1 if node n of the growth buffer (the next, larger hash part) obeys GA2, and if the link
   of n leads to a node of the buffer. GA2 allows three kinds of nodes: free nodes; nodes whose key
   was removed; copied keys, whose value is an integer with the key's main position and the index of
   its old node. */
static int isnode (const luaN_Growth *w, const Node *n) {
  if (gnext(n) != 0 && (size_t)(n + gnext(n) - w->node) >= 2 * (size_t)w->size) return 0;
  if (keyisnil(n)) return isempty(gval(n)) && w->lastfree > n;
  if (isempty(gval(n))) return keyisdead(n) && gckey(n) == NULL;
  return ttisinteger(gval(n)) && luaN_mainof(n) < 2 * w->size;
}


const char *luaN_checkgrowth (const global_State *g, const void **where) {
  const luaN_Growth *w = &g->heap.gc.growth;
  size_t i, copies = 0;
  *where = w->t;
  if (w->t == NULL) return NULL;
  if (isdead(g, w->t)) return "GA1 (dead)";
  if (w->t->node != w->old || (unsigned)sizenode(w->t) != w->size) return "GA1 (nodes)";
  for (i = 0; i < w->cleared; i++) {
    const Node *n = *where = &w->node[i];
    if (!isnode(w, n)) return "GA2";
    copies += !isempty(gval(n));
  }
  if (copies > 0 && w->cleared < 2 * (size_t)w->size) return "GA2 (cleared)";
  for (i = 0; i < w->copied; i++) {
    const Node *n = &w->node[w->copyof[i]];
    *where = &w->old[i];
    if (w->copyof[i] == LUAN_NOCOPY) continue;
    if (w->copyof[i] >= 2 * (size_t)w->size) return "GA3 (place)";
    if (isempty(gval(n)) || luaN_fromof(n) != i) return "GA3 (from)";
    copies--;
  }
  return (copies == 0) ? NULL : "GA3 (copies)";
}

/* }===================================================================== */
