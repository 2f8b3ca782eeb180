/* SPDX-License-Identifier: MIT */
/*
** Reachability in the fuzzer's model by Lua's rules of strong references, weak references and
** finalization. It is a plain search, which shares no algorithm with the collector. A set of
** nodes is a bit in Node.marks. It is valid until the model changes.
**
** If a weak value is dead or resurrected, a collection may have removed its entry. Then it is
** unknown whether the objects are alive that only the key of this entry reaches. REACH_NOW
** excludes these objects, all other sets include them.
*/
#include <stdlib.h>

#include "model.h"

/* 'work' has the nodes to visit, 'weak' the weak tables whose entries must be visited again */
static Node **work, **weak;
static unsigned works, worksize, weaks;
static unsigned current;
static int reviving;	/* 1: nodes with 'visited' set count as resurrected */
static const Node *from;	/* for error messages: the node that is being visited; NULL if it is a slot */
static const char *by;	/* for error messages: the part of 'from' that refers to a node */

static void given_away (const Node *n) {
  static const Node none;
  const Node *h = from != NULL ? from : &none;
  wrong("object %u is reachable, and its memory was given away (kind %d, fin %d, revived %d, "
        "maybe %d; by a %s of object %u, kind %d, mode %d, revived %d, maybe %d, gone %d)", n->id,
        n->kind, n->fin, n->revived, n->maybe, by, h->id, h->kind, mt_mode(h->mt), h->revived,
        h->maybe, h->gone);
}

static void touch (Node *n) {
  if (n == NULL || (n->marks & current)) return;
  if (n->gone && current != REACH_NOW) {
    n->marks |= REACH_HELD;
    return;
  }
  if (n->gone) given_away(n);
  n->marks |= current;
  work[works++] = n;
}

static void touch_value (Value v) {
  if (v.tag == V_NODE) touch(v.u.node);
}

int reachable (Value v, unsigned sets) {
  return v.tag != V_NODE || (v.u.node->marks & sets) != 0;
}

/* Returns 1 if n was resurrected, so that a collection may have removed its entries. */
static int came_back (const Node *n) {
  return n->revived || (reviving && n->visited);
}

/*
** Visits an entry of a weak table. If only keys are weak, the value is reachable if the key is.
** If only values are weak, the key is reachable if the value is.
*/
static void visit_weak (const Node *table, const Entry *e) {
  if (e->key.tag <= V_NIL) return;
  from = table;
  by = "weak entry";
  if (mt_mode(table->mt) == MODE_KEYS) {
    if (reachable(e->key, current)) touch_value(e->value);
  }
  else if (current != REACH_NOW || e->value.tag != V_NODE ||
           ((e->value.u.node->marks & current) && !came_back(e->value.u.node) &&
            !came_back(table)))
    touch_value(e->key);
}

static void visit_table (Node *n) {
  int mode = mt_mode(n->mt);
  unsigned i;
  if (mode == MODE_KEYS || mode == MODE_VALUES) weak[weaks++] = n;
  if (mode != 0) return;
  by = "field";
  for (i = 0; i < n->map.size; i++)
    if (n->map.entry[i].key.tag > V_NIL) {
      touch_value(n->map.entry[i].key);
      touch_value(n->map.entry[i].value);
    }
}

static void visit_frame (const Frame *f) {
  int i;
  for (i = 0; i < 3; i++) touch(f->cell[i]);
  touch(f->get);
  touch(f->set);
  touch(f->cell4);
  touch(f->keep);
  touch_value(f->tbc);
  touch_value(f->x);
}

static void propagate (void) {
  while (works > 0) {
    Node *n = work[--works];
    int i;
    from = n;
    by = "metatable";
    touch(n->meta);
    if (n->kind == N_TABLE) visit_table(n);
    by = "value";
    for (i = 0; i < n->n; i++) touch_value(n->value[i]);
    by = "cell";
    for (i = 0; i < 3; i++) touch(n->cell[i]);
    by = "frame";
    for (i = 0; i < n->frames; i++) visit_frame(&n->frame[i]);
  }
}

static void converge (void) {
  unsigned i, j;
  propagate();
  do {
    for (i = 0; i < weaks; i++)
      for (j = 0; j < weak[i]->map.size; j++)
        visit_weak(weak[i], &weak[i]->map.entry[j]);
    j = works;
    propagate();
  } while (j > 0);
}

static void start (unsigned set) {
  if (worksize < w.nodes) {
    worksize = w.nodes * 2;
    free(work);
    free(weak);
    work = fresh(worksize * sizeof(Node *));
    weak = fresh(worksize * sizeof(Node *));
  }
  current = set;
  weaks = 0;
  from = NULL;
  by = "slot";
}

/*
** Computes a set of nodes: those reachable from the roots, which are the slots of all frames and
** of the registry.
*/
void reach (unsigned set) {
  unsigned i;
  int d, s;
  start(set);
  for (i = 0; i < w.nodes; i++) w.node[i]->marks &= ~set;
  for (d = 1; d <= w.depth; d++)
    for (s = 0; s < LOCALS; s++) touch_value(w.local[d][s]);
  for (s = 0; s < GLOBALS; s++) touch_value(w.global[s]);
  converge();
}

/*
** Adds all nodes to REACH_AFTER that are reachable from the nodes in 'sets'. A finalizer may have
** stored an object in them, where only a later finalizer finds it.
*/
void reach_more (unsigned sets) {
  unsigned i;
  start(REACH_AFTER);
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->marks & sets) touch(w.node[i]);
  converge();
}

/*
** Computes REACH_NOW, and treats nodes with 'visited' set as resurrected. Weak tables among them
** were not compared with Lua, and may have lost entries whose objects were resurrected long
** before.
*/
void reach_settled (void) {
  reviving = 1;
  reach(REACH_NOW);
  reviving = 0;
}

void reach_now (void) {
  if (w.marked == w.action + 1) return;
  reach(REACH_NOW);
  w.marked = w.action + 1;
}

/*
** Computes REACH_POSSIBLE and REACH_FINAL, which adds the objects that queued finalizers may
** access.
*/
void reach_final (void) {
  unsigned i;
  reach(REACH_POSSIBLE);
  reach(REACH_FINAL);
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->fin) touch(w.node[i]);
  converge();
}

/*
** Called before n becomes reachable again. Sets 'revived' in all objects that only n reaches.
** They have been garbage, so that a collection may have removed them from weak tables and queued
** their finalizers.
*/
void revive (Node *n) {
  unsigned i;
  reach_now();
  if (n->marks & REACH_NOW) return;
  w.back++;
  for (i = 0; i < w.nodes; i++)
    w.node[i]->visited = w.node[i]->marks & REACH_NOW ? 0 : 1;
  start(REACH_NOW);
  /* n may also be a key or value of a weak table that was reachable all the time */
  touch(n);
  for (i = 0; i < w.nodes; i++)
    if (!w.node[i]->visited && w.node[i]->kind == N_TABLE) {
      int mode = mt_mode(w.node[i]->mt);
      if (mode == MODE_KEYS || mode == MODE_VALUES) weak[weaks++] = w.node[i];
    }
  reviving = 1;
  converge();
  reviving = 0;
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->visited && (w.node[i]->marks & REACH_NOW)) {
      w.node[i]->revived = 1;
      w.node[i]->maybe = w.node[i]->fin;
    }
}
