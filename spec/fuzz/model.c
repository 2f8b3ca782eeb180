/* SPDX-License-Identifier: MIT */
/*
** Values, maps and nodes of the fuzzer's model, and the random generator. Nothing in this file
** uses Lua. The order of nodes and entries never depends on addresses, so that the same seed
** gives the same actions.
*/
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

World w;

void wrong (const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "graph: seed %lu, action %lu: ", w.seed, w.action);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  _Exit(1);
}

void *fresh (size_t bytes) {
  void *p = calloc(1, bytes);
  if (p == NULL) wrong("no memory for the model");
  return p;
}

static uint64_t randomstate;

void random_seed (unsigned long seed) {
  randomstate = (seed + 1) * 0xd1342543de82ef95u;
}

static uint64_t next_random (void) {
  uint64_t z = (randomstate += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

unsigned random_below (unsigned n) {
  return n == 0 ? 0 : (unsigned)(next_random() >> 32) % n;
}

int chance (unsigned n) {
  return random_below(n) == 0;
}

/* {== Values and maps == */

Value nil_value (void) {
  Value v = {V_NIL, {0}};
  return v;
}

Value int_value (long long i) {
  Value v = {V_INT, {0}};
  v.u.i = i;
  return v;
}

Value node_value (Node *n) {
  Value v = {V_NODE, {0}};
  v.u.node = n;
  return v;
}

int same (Value a, Value b) {
  if (a.tag != b.tag) return 0;
  switch (a.tag) {
    case V_FLOAT: return a.u.n == b.u.n;
    case V_NODE: return a.u.node == b.u.node;
    case V_NIL: case V_DELETED: return 1;
    default: return a.u.i == b.u.i;
  }
}

static unsigned hash (Value v) {
  uint64_t h = v.tag == V_NODE ? v.u.node->id
             : v.tag == V_FLOAT ? (uint64_t)(long long)(v.u.n * 2) : (uint64_t)v.u.i;
  h = (h + (uint64_t)v.tag * 0x51ed2701u) * 0x9e3779b97f4a7c15u;
  return (unsigned)(h >> 32);
}

Entry *map_find (Map *m, Value key) {
  unsigned i;
  if (m->size == 0) return NULL;
  for (i = hash(key) & (m->size - 1); m->entry[i].key.tag != V_NIL;
       i = (i + 1) & (m->size - 1))
    if (same(m->entry[i].key, key)) return &m->entry[i];
  return NULL;
}

static void map_grow (Map *m) {
  Map bigger = {NULL, 8, 0, 0};
  unsigned i;
  while (bigger.size < m->count * 4) bigger.size *= 2;
  bigger.entry = fresh(bigger.size * sizeof(Entry));
  for (i = 0; i < m->size; i++)
    if (m->entry[i].key.tag > V_NIL)
      map_set(&bigger, m->entry[i].key, m->entry[i].value);
  free(m->entry);
  *m = bigger;
}

void map_remove (Map *m, Entry *e) {
  e->key.tag = V_DELETED;
  e->value = nil_value();
  m->count--;
}

/* Sets the value of a key in a map. The value nil removes the key. */
void map_set (Map *m, Value key, Value value) {
  Entry *e = map_find(m, key);
  if (value.tag == V_NIL) {
    if (e) map_remove(m, e);
  }
  else if (e) e->value = value;
  else {
    unsigned i;
    if ((m->used + 1) * 4 > m->size * 3) map_grow(m);
    for (i = hash(key) & (m->size - 1); m->entry[i].key.tag != V_NIL;
         i = (i + 1) & (m->size - 1)) { /* next */ }
    m->entry[i].key = key;
    m->entry[i].value = value;
    m->entry[i].seen = 0;
    m->used++;
    m->count++;
  }
}

/* Returns a random entry of a map, or NULL if the map is empty. */
Entry *map_random (Map *m) {
  unsigned i;
  if (m->count == 0) return NULL;
  for (i = random_below(m->size); m->entry[i].key.tag <= V_NIL;
       i = (i + 1) & (m->size - 1)) { /* next */ }
  return &m->entry[i];
}

/* == Values and maps ==} */

/* {== Nodes == */

/* Hash table of all nodes, by the address of their Lua objects. */
static Node **table;
static unsigned tablesize, tableused;
static Node deleted;

static unsigned place (const void *address) {
  return (unsigned)(((uintptr_t)address >> 3) * 0x9e3779b97f4a7c15u >> 32) & (tablesize - 1);
}

static Node **find (const void *address) {
  unsigned i;
  for (i = place(address); table[i] != NULL; i = (i + 1) & (tablesize - 1))
    if (table[i] != &deleted && table[i]->address == address) return &table[i];
  return &table[i];
}

static void rebuild (void) {
  unsigned i;
  free(table);
  tablesize = 1024;
  while (tablesize < w.nodes * 4) tablesize *= 2;
  table = fresh(tablesize * sizeof(Node *));
  tableused = 0;
  for (i = 0; i < w.nodes; i++)
    if (w.node[i]->kind != N_CELL && !w.node[i]->gone) {
      *find(w.node[i]->address) = w.node[i];
      tableused++;
    }
}

Node *node_at (const void *address) {
  return tablesize == 0 ? NULL : *find(address);
}

static Node *add (Kind kind, const void *address) {
  Node *n = fresh(sizeof(Node));
  n->kind = kind;
  n->address = address;
  n->id = ++w.lastid;
  n->mt = -1;
  if (w.nodes == w.nodesize) {
    w.nodesize = w.nodesize ? w.nodesize * 2 : 1024;
    w.node = realloc(w.node, w.nodesize * sizeof(Node *));
    if (w.node == NULL) wrong("no memory for the model");
  }
  n->index = w.nodes;
  w.node[w.nodes++] = n;
  return n;
}

/*
** Adds a node for a new Lua object. If the model has a node with this address already, the object
** of that node must be dead.
*/
Node *node_new (Kind kind, const void *address) {
  Node *n, **p;
  if (tableused * 2 >= tablesize) rebuild();
  p = find(address);
  if (*p != NULL) {
    if ((*p)->fin && !lost_finalizer(*p))
      wrong("object %u had a finalizer to come, its memory is reused", (*p)->id);
    (*p)->gone = 1;
  }
  else tableused++;
  n = add(kind, address);
  *p = n;
  w.marked = 0;
  return n;
}

Node *cell_new (const void *address, Value v) {
  Node *n = add(N_CELL, address);
  n->value = fresh(sizeof(Value));
  n->value[0] = v;
  n->n = 1;
  w.marked = 0;
  return n;
}

void node_delete (Node *n) {
  if (n->kind != N_CELL && !n->gone) *find(n->address) = &deleted;
  w.node[n->index] = w.node[--w.nodes];
  w.node[n->index]->index = n->index;
  free(n->map.entry);
  free(n->value);
  free(n->frame);
  free(n);
}

/* == Nodes ==} */
