/* SPDX-License-Identifier: MIT */
/* Stacks with labels (firefoxstacks.h). */
#include "firefoxstacks.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key (uint32_t node, uint32_t labels) {
  return (uint64_t)labels << 32 | node;
}

/* Appends to 'list' the stack of a call tree node with labels. 'parent' is FirefoxStack.parent.
   Node 0 represents the stack of the labels alone. Append this stack before the label set's other
   stacks, because that adds the set to 'sets'. Returns 0 if out of memory. */
static int firefoxstacks_put (FirefoxStacks *s, uint32_t node, uint32_t labels, uint32_t parent) {
  FirefoxStack *one;
  if (node == 0) {
    if (!list_grow(&s->sets, s->nsets, &s->setsize, sizeof(*s->sets)))
      return 0;
    s->sets[s->nsets++] = labels;
  }
  if (!list_grow(&s->list, s->n, &s->size, sizeof(*s->list)) ||
      !idmap_set(&s->byplace, key(node, labels), (uint32_t)s->n))
    return 0;
  one = &s->list[s->n++];
  one->node = node;
  one->set = parent > 0 ? s->list[parent - 1].set : (uint32_t)s->nsets - 1;
  one->parent = parent;
  return 1;
}

/* Appends to 'list' the stacks of a node, of its callers and of node 0, all with the label set
   'labels', unless 'list' has them. 'path' is a buffer for the nodes. Returns 0 if out of
   memory. */
static int firefoxstacks_add (FirefoxStacks *s, uint32_t node, uint32_t labels, uint32_t *path) {
  size_t n = 0;
  uint32_t at, parent = 0;
  for (;; node = fold_parent(s->fold, s->r, node)) {
    at = idmap_get(&s->byplace, key(node, labels));
    if (at != IDMAP_NONE) {
      parent = at + 1;
      break;
    }
    path[n++] = node;
    if (node == 0)
      break;
  }
  while (n > 0) {
    if (!firefoxstacks_put(s, path[--n], labels, parent))
      return 0;
    parent = (uint32_t)s->n;
  }
  return 1;
}

/* Adds the stacks of those sites of a table that have labels. Returns 0 if out of memory. */
static int addsites (FirefoxStacks *s, const SiteTable *table, uint32_t *path) {
  size_t i;
  for (i = 0; i < table->nsites; i++) {
    const Site *site = &table->sites[i];
    if (site->tag != 0 && !firefoxstacks_add(s, site->node, site->tag, path))
      return 0;
  }
  return 1;
}

int firefoxstacks_init (FirefoxStacks *s, const ReadProfile *r, const Fold *fold,
                        const SiteTable *leaves, const SiteTable *ticks) {
  uint32_t *path;
  int ok;
  memset(s, 0, sizeof(*s));
  s->r = r;
  s->fold = fold;
  if (r->nlabelsets == 0)
    return 1;
  path = malloc((READER_MAXDEPTH + (size_t)1) * sizeof(*path));
  ok = path != NULL && addsites(s, leaves, path) && addsites(s, ticks, path);
  free(path);
  return ok;
}

void firefoxstacks_free (FirefoxStacks *s) {
  free(s->list);
  free(s->sets);
  idmap_free(&s->byplace);
  memset(s, 0, sizeof(*s));
}

uint64_t firefoxstacks_of (const FirefoxStacks *s, uint32_t node, uint32_t labels) {
  if (labels == 0)
    return node == 0 ? FIREFOXSTACKS_NONE : node - (uint64_t)1;
  return s->r->tree.n - (uint64_t)1 + idmap_get(&s->byplace, key(node, labels));
}
