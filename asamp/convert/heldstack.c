/* SPDX-License-Identifier: MIT */
/* Converts paths of references to stacks (heldstack.h). */
#include "heldstack.h"
#include "list.h"

static const char UNKNOWN[] = "[no holder known]";

typedef struct Building {
  HeldStack *h;
  const ReadProfile *r;
  IdMap bystep;        /* maps a reference to its index in 'steps'. The key is 2 + the offset of
                          the reference's text, or 1 for UNKNOWN */
  IdMap byleaf;        /* maps a hash of parent, function and line to the newest node that shows a
                          function and has this hash */
  uint32_t *ofpath;    /* ofpath[i]: node of the last reference of path i; 0: none yet */
  /* node with the text UNKNOWN, the path of objects for which the file has no path of references;
     0: not created yet */
  uint32_t unknown;
} Building;

/* Returns a new node, or HELDSTACK_NONE if out of memory. */
static uint32_t addnode (Building *b, uint32_t parent, uint32_t step,
                         uint32_t function, uint32_t line) {
  HeldStack *h = b->h;
  if (!list_grow(&h->nodes, h->nnodes, &h->nodesize, sizeof(*h->nodes)))
    return HELDSTACK_NONE;
  h->nodes[h->nnodes].parent = parent;
  h->nodes[h->nnodes].step = step;
  h->nodes[h->nnodes].function = function;
  h->nodes[h->nnodes].line = line;
  return h->nnodes++;
}

/* Returns the index in 'steps' of the reference 'text'; adds the reference if it is new. 'key' is
   the reference's key in the map 'bystep'. Returns HELDSTACK_NONE if out of memory. */
static uint32_t addstep (Building *b, const char *text, uint64_t key) {
  HeldStack *h = b->h;
  uint32_t at = idmap_get(&b->bystep, key);
  if (at != IDMAP_NONE)
    return at;
  if (!list_grow(&h->steps, h->nsteps, &h->stepsize, sizeof(*h->steps)) ||
      !idmap_set(&b->bystep, key, h->nsteps))
    return HELDSTACK_NONE;
  h->steps[h->nsteps] = text;
  return h->nsteps++;
}

/* Returns a new node that shows the reference 'text', such as a field of a table, or HELDSTACK_NONE
   if out of memory. The node is a child of the node 'parent'. 'key' is the reference's key in the
   map 'bystep'. */
static uint32_t addpath (Building *b, uint32_t parent, const char *text, uint64_t key) {
  uint32_t step = addstep(b, text, key);
  return step == HELDSTACK_NONE ? HELDSTACK_NONE : addnode(b, parent, step, 0, 0);
}

/* Adds for each path p a node for its last reference. The node's parent is the node of the path
   p->parent, which is p without its last reference. That path has a lower number, so its node
   exists already. Returns 0 if out of memory. */
static int paths (Building *b) {
  const ReadProfile *r = b->r;
  size_t i;
  b->ofpath = calloc(r->npaths + 1, sizeof(*b->ofpath));
  if (b->ofpath == NULL)
    return 0;
  for (i = 1; i <= r->npaths; i++) {
    const ReadPath *p = &r->paths[i - 1];
    b->ofpath[i] = addpath(b, b->ofpath[p->parent], r->text.text + p->step, p->step + UINT64_C(2));
    if (b->ofpath[i] == HELDSTACK_NONE)
      return 0;
  }
  return 1;
}

/* Returns the innermost node on the stack of call tree node 'node' that is a function of a script;
   0: none. */
static uint32_t script (const ReadProfile *r, uint32_t node) {
  while (node != 0 && r->functions[r->fn[node]].native)
    node = r->tree.nodes[node].parent;
  return node;
}

/* Adds a row for the objects of a site: one allocating stack and one path of references. Rows with
   the same path, function and line share one node. Returns 0 if out of memory. */
static int addrow (Building *b, const Site *s) {
  HeldStack *h = b->h;
  const ReadProfile *r = b->r;
  uint32_t at, leaf, node = script(r, s->node);
  HeldRow *row;
  if (s->kind == 0 && b->unknown == 0)
    b->unknown = addpath(b, 0, UNKNOWN, 1);
  at = s->kind == 0 ? b->unknown : b->ofpath[s->kind];
  if (at != HELDSTACK_NONE && node != 0) {
    uint32_t function = r->fn[node], line = r->tree.nodes[node].line;
    uint64_t key = (((uint64_t)at << 32 | function) ^
                    line * UINT64_C(0x9e3779b97f4a7c15)) | 1;
    leaf = idmap_get(&b->byleaf, key);
    if (leaf == IDMAP_NONE || h->nodes[leaf].parent != at ||
        h->nodes[leaf].function != function || h->nodes[leaf].line != line) {
      leaf = addnode(b, at, HELDSTACK_NONE, function, line);
      if (leaf == HELDSTACK_NONE || !idmap_set(&b->byleaf, key, leaf))
        return 0;
    }
    at = leaf;
  }
  if (at == HELDSTACK_NONE || !list_grow(&h->rows, h->nrows, &h->rowsize, sizeof(*h->rows)))
    return 0;
  row = &h->rows[h->nrows++];
  row->node = at;
  row->bytes = s->bytes;
  return 1;
}

int heldstack_init (HeldStack *h, const ReadProfile *r, const SiteTable *held) {
  Building b;
  size_t i;
  int ok;
  memset(h, 0, sizeof(*h));
  memset(&b, 0, sizeof(b));
  b.h = h;
  b.r = r;
  ok = addnode(&b, 0, HELDSTACK_NONE, 0, 0) != HELDSTACK_NONE;
  if (ok && held->nsites > 0)
    ok = paths(&b);
  for (i = 0; i < held->nsites && ok; i++)
    ok = addrow(&b, &held->sites[i]);
  idmap_free(&b.bystep);
  idmap_free(&b.byleaf);
  free(b.ofpath);
  return ok;
}

void heldstack_free (HeldStack *h) {
  free(h->nodes);
  free((void *)h->steps);
  free(h->rows);
  memset(h, 0, sizeof(*h));
}
