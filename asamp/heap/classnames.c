/* SPDX-License-Identifier: MIT */
/* Classes of the objects of a heap (classnames.h). */
#include "classnames.h"
#include "words.h"
#include "hash.h"
#include "idmap.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSNAMES_MOST	BOUND(65536u, 16u)  /* largest number of classes; objects with further
                                               metatables have the class "(other classes)" */

/* Two maps to the index of a class in Naming.names. A key of 'metatables' is 1 + the object number
   of a metatable. A key of 'names' is the hash of a class's name; names with equal hashes have
   successive keys. */
typedef struct Known {
  IdMap metatables, names;
} Known;

/* Sets *id to the class with the name 'name', which it adds if needed. Returns 0 if out of
   memory. */
static int classnames_add (Naming *m, Known *known, const char *name, uint32_t *id) {
  uint64_t key = hash_bytes(name, strlen(name)) >> 1;
  /* names with equal hashes are stored under successive keys */
  for (; (*id = idmap_get(&known->names, key)) != IDMAP_NONE; key++)
    if (strcmp(m->names[*id], name) == 0) return 1;
  if (!list_grow(&m->names, m->n, &m->size, sizeof(*m->names)))
    return 0;
  if ((m->names[m->n] = strdup(name)) == NULL)
    return 0;
  *id = m->n++;
  return idmap_set(&known->names, key, *id);
}

/* Returns the metatable of v, or GRAPH_NONE. The edge to the metatable, if any, is v's first
   edge. */
static uint32_t metatable (const Graph *g, uint32_t v) {
  if (g->count[v] == 0 || way_kind(g->ways[g->first[v]]) != HEAP_EMETATABLE)
    return GRAPH_NONE;
  return g->to[g->first[v]];
}

/* Returns the object in field 'key' of table v, or GRAPH_NONE. */
static uint32_t fieldof (const Graph *g, uint32_t v, const char *key) {
  size_t i = 0;
  uint32_t to;
  Way way;
  while (graph_edge(g, v, &i, &to, &way))
    if (way_kind(way) == HEAP_EFIELD && graph_is(g, way_argument(way), key))
      return to;
  return GRAPH_NONE;
}

/* Writes the name under which v's parent refers to v, such as "socket.tcp". Returns the length of
   the name; 0: no name. 'depth': largest number of further parents to visit. */
static size_t heldas (const Graph *g, uint32_t v, char to[WORDS_MOST], int depth) {
  uint32_t parent = g->parent[v], name = GRAPH_NONE, argument = way_argument(g->way[v]);
  size_t n, m = 0;
  const char *s;
  switch (way_kind(g->way[v])) {
    case HEAP_EFIELD:
      name = argument;
      break;
    case HEAP_EUPVALUE: case HEAP_ELOCAL:
      name = argument < g->nslots ? g->slots[argument].name : GRAPH_NONE;
      break;
    case HEAP_EVALUE: case HEAP_EMETATABLE:
      return depth > 0 ? heldas(g, parent, to, depth - 1) : 0;
    default: break;
  }
  s = graph_text(g, name, &n);
  if (n == 0)
    return 0;
  if (n > 2 && memcmp(s, "__", 2) == 0)  /* the parent is a metatable, whose field such as __index
                                            refers to v: writes the name of the parent */
    return depth > 0 ? heldas(g, parent, to, depth - 1) : 0;
  if (depth > 0 && way_kind(g->way[v]) == HEAP_EFIELD &&
      (way_kind(g->way[parent]) == HEAP_EFIELD) &&
      !graph_is(g, way_argument(g->way[parent]), "_LOADED"))
    m = heldas(g, parent, to, depth - 1);
  if (m > 0 && m + 1 < WORDS_MOST)
    to[m++] = '.';
  return m + words_quoted(to + m, WORDS_MOST - m, s, n);
}

/* Sets *id to the class of the table or userdata v: the name of its metatable, or else its kind.
   Returns 0 if out of memory. */
static int classof (Naming *m, const Graph *g, uint32_t v, Known *known, uint32_t *id) {
  uint32_t mt = metatable(g, v), named;
  char name[WORDS_MOST];
  size_t n;
  const char *s;
  if (mt == GRAPH_NONE || g->kind[mt] != HEAP_TABLE) {
    *id = g->kind[v];
    return 1;
  }
  if ((*id = idmap_get(&known->metatables, (uint64_t)mt + 1)) != IDMAP_NONE)
    return 1;
  s = graph_text(g, fieldof(g, mt, "__name"), &n);
  n = n > 0 ? words_quoted(name, 128, s, n) : heldas(g, mt, name, 3);
  if (n == 0 && (named = fieldof(g, mt, "__index")) != GRAPH_NONE &&
      g->kind[named] == HEAP_TABLE)
    n = heldas(g, named, name, 3);
  *id = g->kind[v];
  if (n > 0 && !classnames_add(m, known, m->n < CLASSNAMES_MOST ? name : "(other classes)", id))
    return 0;
  return idmap_set(&known->metatables, (uint64_t)mt + 1, *id);
}

int naming_of (Naming *m, const Graph *g) {
  Known known;
  uint32_t v, id;
  int ok = 1;
  memset(m, 0, sizeof(*m));
  memset(&known, 0, sizeof(known));
  m->class = malloc((size_t)g->n * sizeof(*m->class));
  for (v = 0; ok && v <= HEAP_KINDS; v++)
    ok = classnames_add(m, &known, words_kind((int)v), &id);
  for (v = 0; ok && m->class != NULL && v < g->n; v++) {
    m->class[v] = g->kind[v];
    if (g->kind[v] == HEAP_TABLE || g->kind[v] == HEAP_USERDATA)
      ok = classof(m, g, v, &known, &m->class[v]);
  }
  idmap_free(&known.metatables);
  idmap_free(&known.names);
  if (!ok || m->class == NULL) {
    naming_free(m);
    return 0;
  }
  return 1;
}

void naming_free (Naming *m) {
  uint32_t i;
  for (i = 0; i < m->n; i++)
    free(m->names[i]);
  free(m->names);
  free(m->class);
  memset(m, 0, sizeof(*m));
}
