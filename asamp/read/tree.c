/* SPDX-License-Identifier: MIT */
/* Call tree (tree.h): an array of nodes, and a hash table from (parent, id, line) to a node. */
#include "tree.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash (uint32_t parent, uint64_t id, uint32_t line) {
  return (uint32_t)hash_words(id, (uint64_t)parent << 32 | line);
}

/* Doubles the capacity. Returns 0 if out of memory. */
static int tree_grow (Tree *t) {
  uint32_t size = t->size == 0 ? BOUND_FIRST(256) : t->size * 2;
  uint32_t nslots = size * 2;
  uint32_t i;
  uint32_t *slots;
  TreeNode *nodes = realloc(t->nodes, size * sizeof(*nodes));
  if (nodes == NULL)
    return 0;
  t->nodes = nodes;
  slots = calloc(nslots, sizeof(*slots));
  if (slots == NULL)
    return 0;
  for (i = 1; i < t->n; i++) {
    const TreeNode *node = &nodes[i];
    uint32_t k = hash(node->parent, node->id, node->line) & (nslots - 1);
    while (slots[k] != 0)
      k = (k + 1) & (nslots - 1);
    slots[k] = i;
  }
  free(t->slots);
  t->slots = slots;
  t->nslots = nslots;
  t->size = size;
  return 1;
}

int tree_init (Tree *t) {
  memset(t, 0, sizeof(*t));
  hash_prepare();
  if (!tree_grow(t))
    return 0;
  memset(&t->nodes[0], 0, sizeof(t->nodes[0]));
  t->n = 1;
  return 1;
}

void tree_free (Tree *t) {
  free(t->nodes);
  free(t->slots);
  memset(t, 0, sizeof(*t));
}

uint32_t tree_child (Tree *t, uint32_t parent, uint64_t id, uint32_t line) {
  uint32_t h = hash(parent, id, line);
  uint32_t k = h & (t->nslots - 1);
  TreeNode *node;
  while (t->slots[k] != 0) {
    HASH_STEP();
    node = &t->nodes[t->slots[k]];
    if (node->parent == parent && node->id == id && node->line == line)
      return t->slots[k];
    k = (k + 1) & (t->nslots - 1);
  }
  if (t->n == TREE_MAXNODES) {
    t->left++;
    return parent;
  }
  if (t->n == t->size) {
    if (!tree_grow(t))
      return 0;
    k = h & (t->nslots - 1);
    while (t->slots[k] != 0)
      k = (k + 1) & (t->nslots - 1);
  }
  node = &t->nodes[t->n];
  node->id = id;
  node->line = line;
  node->parent = parent;
  t->slots[k] = t->n;
  return t->n++;
}
