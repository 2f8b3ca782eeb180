/* SPDX-License-Identifier: MIT */
/* Merged trees (merge.h). */
#include "merge.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

/* Flag in Group.kind: the objects of the parent row dominate the objects of the group (keep them
   alive), but do not refer to them directly. */
#define TOGETHER	64
/* If a row of tables would have more child rows than this for fields whose values have the same
   class, mergefields makes them one row "[*]". */
#define FIELDS_MANY	12

/* State of merge_of. */
typedef struct Work {
  const MergeWish *wish;
  const Graph *g;
  /* parent of each object in the tree. In a tree of dominators, its immediate dominator; in a tree
     of paths, the object before it on a shortest path */
  const uint32_t *above;
  uint32_t *first, *child;	/* children of v: child[first[v]] to child[first[v + 1] - 1] */
  /* Used for a tree that shows shortest paths from the state to the wanted objects, such as those
     of one class. Totals over the wanted objects whose paths lead through v, including v itself:
     'value' has the bytes that they retain, 'count' their number. */
  uint64_t *value, *count;
  /* ways[v]: the reference from the object 'listed' to object v. Valid only if seen[v] is listed +
     1. 'listed' is GRAPH_NONE before the first use. */
  uint32_t listed, *seen;
  Way *ways;
  Merge *m;
  /* 1: the decision on a row for the Lua state's own memory was made: the row was added, or left
     out as too small */
  int statecounted;
  int failed;			/* 1: there was not enough memory */
} Work;

/* The objects of a row. */
typedef struct Set {
  uint32_t *objects;
  size_t n, size;
} Set;

/* Objects that become one row of the tree, because the objects of the parent row refer to them in
   the same way. */
typedef struct Group {
  /* The key that all objects of the group have in common.
     kind   kind of the reference to them
     a, b   index, key or variable of the reference, set by shape()
     class  their class; 0 in a tree of paths */
  uint32_t kind, a, b, class;
  uint64_t value;		/* sum of the bytes that the objects of the group retain */
  Set set;
} Group;

/* Appends an object. Returns 0 if out of memory. */
static int merge_put (Set *s, uint32_t v) {
  if (!list_grow(&s->objects, s->n, &s->size, sizeof(*s->objects)))
    return 0;
  s->objects[s->n++] = v;
  return 1;
}

/* {== the tree ========================================================= */

/* Computes the children of each object in the tree. Returns 0 if out of memory. */
static int children (Work *w) {
  uint32_t n = w->g->n, v, sum = 0;
  w->first = calloc((size_t)n + 2, sizeof(*w->first));
  w->child = malloc((size_t)n * sizeof(*w->child));
  if (w->first == NULL || w->child == NULL)
    return 0;
  for (v = 1; v < n; v++)
    w->first[w->above[v] + 2]++;
  for (v = 0; v < n; v++) {
    sum += w->first[v + 2];
    w->first[v + 2] = sum;
  }
  for (v = 1; v < n; v++)
    w->child[w->first[w->above[v] + 1]++] = v;
  return 1;
}

/* Returns 1 if the tree of paths must lead to v: wish->wanted has v or, if it is NULL, v has the
   class wish->class. */
static int iswanted (const MergeWish *wish, uint32_t v) {
  return v != 0 && (wish->wanted != NULL ? wish->wanted[v]
                                         : wish->naming->class[v] == wish->class);
}

/* Computes w->value and w->count for a tree that shows shortest paths to the wanted objects
   (iswanted). If one wanted object dominates another, adds only the bytes that the dominating one
   retains, because they include those of the other one. Returns 0 if out of memory. */
static int weighpaths (Work *w) {
  const MergeWish *wish = w->wish;
  const Dominators *d = wish->dominators;
  uint32_t n = w->g->n, i, k;
  /* inside[v] is 1 if a wanted object (iswanted) other than v dominates v */
  unsigned char *inside = calloc(n, 1);
  uint32_t *order = malloc((size_t)n * sizeof(*order));
  w->value = calloc(n, sizeof(*w->value));
  w->count = calloc(n, sizeof(*w->count));
  if (inside == NULL || order == NULL || w->value == NULL || w->count == NULL) {
    free(inside);
    free(order);
    return 0;
  }
  for (i = 1; i < n; i++) {
    uint32_t v = d->order[i];
    inside[v] = inside[d->dominator[v]] || iswanted(wish, d->dominator[v]);
    if (!iswanted(wish, v)) continue;
    w->count[v] = 1;
    w->m->count++;
    w->m->self += graph_size(w->g, v);
    if (!inside[v]) {
      w->value[v] = d->retained[v];
      w->m->value += d->retained[v];
    }
  }
  order[0] = 0;
  for (i = 0, k = 1; i < k; i++) {
    uint32_t c;
    for (c = w->first[order[i]]; c < w->first[order[i] + 1]; c++)
      order[k++] = w->child[c];
  }
  for (i = k; i-- > 1; ) {
    w->value[w->above[order[i]]] += w->value[order[i]];
    w->count[w->above[order[i]]] += w->count[order[i]];
  }
  free(order);
  free(inside);
  return 1;
}

/* }===================================================================== */

/* {== merging ========================================================== */

/* Returns the bytes that object v adds to MergeRow.value of its row. */
static uint64_t merge_valueof (const Work *w, uint32_t v) {
  return w->wish->paths ? w->value[v] : w->wish->dominators->retained[v];
}

/* Sets w->ways[v] to the first reference from 'from' to v, for each object v to which 'from'
   refers. */
static void merge_list (Work *w, uint32_t from) {
  size_t i = 0;
  uint32_t to;
  Way way;
  w->listed = from;
  while (graph_edge(w->g, from, &i, &to, &way)) {
    if (w->seen[to] != from + 1) {
      w->seen[to] = from + 1;
      w->ways[to] = way;
    }
  }
}

/* Sets *way to the reference from the object 'from' to v. Returns 0 if there is none. */
static int wayto (Work *w, uint32_t from, uint32_t v, Way *way) {
  if (w->g->parent[v] == from) {
    *way = w->g->way[v];
    return 1;
  }
  if (w->listed != from)
    merge_list(w, from);
  if (w->seen[v] != from + 1)
    return 0;
  *way = w->ways[v];
  return 1;
}

/* Returns v's parent on the shortest path, and sets *way to its reference. If the parent is an
   upvalue, returns the upvalue's parent, with the reference to the upvalue. */
static uint32_t shortest (const Graph *g, uint32_t v, Way *way) {
  while (way_kind(g->way[v]) == HEAP_EVALUE)
    v = g->parent[v];
  *way = g->way[v];
  return g->parent[v];
}

/* Sets *p to an empty group with the key of object v, a child of 'from' in the tree. Objects with
   equal keys share a row. The key is the reference from 'from' to v, that is, its kind and its
   index, field name or variable. In a tree of dominators, the class of v is also a part of the key.
   If 'from' does not refer directly to v, uses the last reference of the shortest path to v, and
   sets the flag TOGETHER. */
static void shape (Work *w, Group *p, uint32_t from, uint32_t v) {
  Way way;
  uint32_t a;
  int together;
  memset(p, 0, sizeof(*p));
  p->class = w->wish->paths ? 0 : w->wish->naming->class[v];
  together = !wayto(w, from, v, &way);
  if (together) from = shortest(w->g, v, &way);
  p->kind = way_kind(way);
  a = way_argument(way);
  switch (p->kind) {
    /* The elements 1 and 2 of the registry (main thread, globals) have a row each; all other
       elements of a table share a row. */
    case HEAP_EINDEX:
      p->a = w->g->parent[from] == 0 && a < 3 ? a : 0;
      break;
    case HEAP_EFIELD: case HEAP_EROOT: case HEAP_EUSERVALUE: p->a = a; break;
    case HEAP_EUPVALUE: case HEAP_ELOCAL: case HEAP_ESTACK: case HEAP_ECODE:
      /* stack slots without a variable: slot 1, the called function, has a row of its own, all
         others of the function share a row */
      if (a < w->g->nslots) {
        const Slot *s = &w->g->slots[a];
        int isslot = p->kind == HEAP_ESTACK || p->kind == HEAP_ECODE;
        p->a = s->name;
        p->b = s->in * 31u + (isslot ? s->index == 1 : s->index);
      }
      break;
    default: break;
  }
  if (together) p->kind |= TOGETHER;
}

/* Returns the hash of the key of a group. */
static uint64_t merge_hashof (const Group *p) {
  uint64_t h = p->kind * UINT64_C(0x9e3779b97f4a7c15) + p->a;
  h = (h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + p->b;
  h = (h ^ (h >> 32)) * UINT64_C(0x94d049bb133111eb) + p->class;
  return h ^ (h >> 31);
}

/* Returns 1 if both groups have the same key. */
static int same (const Group *a, const Group *b) {
  return a->kind == b->kind && a->a == b->a && a->b == b->b && a->class == b->class;
}

/* The children of one row while they are sorted into groups, each of which becomes a child row. A
   hash table finds a group by its key. */
typedef struct Groups {
  Group *g;
  size_t n, size;
  uint32_t *table;	/* hash table of indexes in 'g'; UINT32_MAX: unused entry */
  uint32_t mask;	/* number of entries of 'table' minus 1 */
} Groups;

/* Returns the group with the same key as 'like', which is added if needed. The result is valid
   until the next call. Returns NULL if out of memory. */
static Group *groupof (Groups *s, const Group *like) {
  uint32_t i, k;
  if (s->table == NULL || s->n * 2 >= s->mask) {
    uint32_t size = s->table == NULL ? 64 : 4 * (s->mask + 1);
    uint32_t *t = malloc((size_t)size * sizeof(*t));
    if (t == NULL) return NULL;
    memset(t, 0xff, (size_t)size * sizeof(*t));
    free(s->table);
    s->table = t;
    s->mask = size - 1;
    for (k = 0; k < s->n; k++) {
      for (i = (uint32_t)merge_hashof(&s->g[k]) & s->mask; t[i] != UINT32_MAX; )
        i = (i + 1) & s->mask;
      t[i] = k;
    }
  }
  i = (uint32_t)merge_hashof(like) & s->mask;
  for (; s->table[i] != UINT32_MAX; i = (i + 1) & s->mask)
    if (same(&s->g[s->table[i]], like)) return &s->g[s->table[i]];
  if (!list_grow(&s->g, s->n, &s->size, sizeof(*s->g))) return NULL;
  s->g[s->n] = *like;
  memset(&s->g[s->n].set, 0, sizeof(Set));
  s->table[i] = (uint32_t)s->n;
  return &s->g[s->n++];
}

static void freegroups (Groups *s) {
  size_t i;
  for (i = 0; i < s->n; i++) free(s->g[i].set.objects);
  free(s->g);
  free(s->table);
}

/* Orders groups by the bytes that they retain, largest first. */
static int byvalue (const void *a, const void *b) {
  const Group *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? 1 : -1;
  return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Orders groups by the kind of their reference, then by class, then by their first objects. */
static int byclass (const void *a, const void *b) {
  const Group *x = a, *y = b;
  uint32_t v = x->set.objects[0], w = y->set.objects[0];
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return x->class != y->class ? (x->class < y->class ? -1 : 1) : (v > w) - (v < w);
}

/* Merges groups of a row's children into one row "[*]". Each of these groups has the values of one
   field, such as "name". Groups are merged if
   - their objects have the same class
   - there are more than FIELDS_MANY such groups
   - none of them retains over half of the bytes that they retain together
   Sorts the groups, so that those to be merged are adjacent. This invalidates the indexes in
   s->table, so groupof must not be called later. Returns 0 if out of memory. */
static int mergefields (Groups *s) {
  size_t i, k, j, end;
  if (s->n > 0) qsort(s->g, s->n, sizeof(*s->g), byclass);
  for (i = 0; i < s->n; i = end) {
    Group *first = &s->g[i];
    uint64_t sum = 0, largest = 0;
    for (end = i; end < s->n && s->g[end].kind == first->kind &&
                  s->g[end].class == first->class; end++) {
      sum += s->g[end].value;
      if (s->g[end].value > largest) largest = s->g[end].value;
    }
    if (first->kind != HEAP_EFIELD || end - i <= FIELDS_MANY || largest * 2 > sum) continue;
    for (k = i + 1; k < end; k++) {
      Group *p = &s->g[k];
      for (j = 0; j < p->set.n; j++)
        if (!merge_put(&first->set, p->set.objects[j])) return 0;
      p->set.n = 0;
      p->value = 0;
    }
    first->kind = HEAP_EENTRY;
    first->value = sum;
  }
  return 1;
}

/* Returns 1 if the objects of group p have no row of their own, but are added to the row of their
   parents. 'above' is the key of that row; NULL: the Lua state. These objects are
   - the values of upvalues
   - the members of a chain, such as a linked list: the parent refers to a member by a field, array
     element or metatable with the same key (see shape) as the reference to the parent itself, such
     as the field 'next'. */
static int isfolded (const Group *p, const Group *above) {
  return p->kind == HEAP_EVALUE ||
         (above != NULL && same(p, above) &&
          (p->kind == HEAP_EFIELD || p->kind == HEAP_EINDEX || p->kind == HEAP_EMETATABLE));
}

/* Sorts the children of the objects in 'set' into groups *s, each of which becomes a row. 'set' has
   the objects of the row 'row', whose key is 'above'; for the Lua state, 'above' and 'row' are
   NULL. Children that belong to the row of their parents, such as the members of a linked list, are
   added to 'set'. Returns 0 if out of memory. */
static int gather (Work *w, Groups *s, Set *set, const Group *above, MergeRow *row) {
  size_t i;
  uint32_t c;
  for (i = 0; i < set->n; i++) {  /* 'set' may grow in the loop */
    uint32_t v = set->objects[i];
    for (c = w->first[v]; c < w->first[v + 1]; c++) {
      uint32_t to = w->child[c];
      Group like, *p;
      if (w->wish->paths && w->count[to] == 0) continue;
      shape(w, &like, v, to);
      if (row != NULL && isfolded(&like, above)) {
        if (!merge_put(set, to)) return 0;
        if (like.kind == HEAP_EVALUE) {
          row->class = w->wish->naming->class[to];
        }
        else {
          Way way;
          row->repeated = 1;
          /* this reference has another array index than row->way, so the row represents several
             references */
          if (like.kind == HEAP_EINDEX && wayto(w, v, to, &way) &&
              way_argument(way) != way_argument(row->way))
            row->merged = 1;
        }
        row->count += !w->wish->paths && like.kind != HEAP_EVALUE;
        row->self += graph_size(w->g, to);
        continue;
      }
      if ((p = groupof(s, &like)) == NULL || !merge_put(&p->set, to)) return 0;
      p->value += merge_valueof(w, to);
    }
  }
  return mergefields(s);
}

/* Sets the fields of a new row to the data of group p. */
static void describe (Work *w, MergeRow *row, const Group *p) {
  size_t i;
  const Graph *g = w->g;
  row->example = p->set.objects[0];
  row->merged = p->set.n > 1;
  for (i = 0; i < p->set.n; i++) {
    uint32_t v = p->set.objects[i];
    if (merge_valueof(w, v) > merge_valueof(w, row->example)) row->example = v;
    row->self += graph_size(g, v);
    row->count += w->wish->paths ? w->count[v] : 1;
    if (w->wish->naming->class[v] != w->wish->naming->class[p->set.objects[0]])
      row->class = UINT32_MAX - 1;
  }
  row->value = p->value;
  row->class = row->class != 0 ? GRAPH_NONE : w->wish->naming->class[row->example];
  row->from = w->above[row->example];
  if (!wayto(w, row->from, row->example, &row->way)) {
    row->from = shortest(w->g, row->example, &row->way);
    row->together = 1;
  }
  else if (p->kind == HEAP_EENTRY && p->set.n > 1) row->way = way_of(HEAP_EENTRY, WAY_MOST);
}

/* Appends an empty row with the parent row 'above' at the depth 'depth'. Returns NULL if out of
   memory. */
static MergeRow *newrow (Work *w, uint32_t above, uint32_t depth) {
  MergeRow *r;
  if (!list_grow(&w->m->rows, w->m->n, &w->m->size, sizeof(*w->m->rows))) {
    w->failed = 1;
    return NULL;
  }
  r = &w->m->rows[w->m->n++];
  memset(r, 0, sizeof(*r));
  r->depth = depth;
  r->above = above;
  return r;
}

/* Returns 1 if a row with this value at this depth must be omitted, and then counts the row as
   omitted. */
static int isleftout (Work *w, uint64_t value, uint32_t depth) {
  int small = value < w->wish->least;
  if (!small && w->m->n < w->wish->most && depth < MERGE_DEPTH) return 0;
  w->m->left++;
  w->m->cut += !small;
  return 1;
}

/* In a tree of dominators, adds the row of the Lua state's own memory. Does nothing if the row was
   added before, or its value is smaller than 'next', the value of the next row at depth 0. */
static void staterow (Work *w, uint64_t next) {
  uint64_t bytes = graph_size(w->g, 0);
  MergeRow *r;
  if (w->wish->paths || w->statecounted || bytes == 0 || bytes < next) return;
  w->statecounted = 1;
  if (isleftout(w, bytes, 0)) return;
  if ((r = newrow(w, GRAPH_NONE, 0)) != NULL) {
    r->class = GRAPH_NONE;
    r->self = r->value = bytes;
  }
}

/* Adds all rows below row number 'row', recursively. The row's objects are 'set', its key is
   'above'. Its child rows have the depth 'depth'. For the Lua state, 'above' is NULL and 'row' is
   GRAPH_NONE. */
static void rows (Work *w, Set *set, const Group *above, uint32_t row, uint32_t depth) {
  Groups s = {0};
  size_t i;
  MergeRow *mine = row != GRAPH_NONE ? &w->m->rows[row] : NULL;
  if (!gather(w, &s, set, above, mine)) w->failed = 1;
  if (s.n > 0) qsort(s.g, s.n, sizeof(*s.g), byvalue);
  for (i = 0; i < s.n && !w->failed; i++) {
    Group *p = &s.g[i];
    uint32_t at;
    if (p->set.n == 0) continue;
    if (row == GRAPH_NONE) staterow(w, p->value);
    at = (uint32_t)w->m->n;
    if (isleftout(w, p->value, depth)) continue;
    if (newrow(w, row, depth) == NULL) break;
    describe(w, &w->m->rows[at], p);
    rows(w, &p->set, p, at, depth + 1);
  }
  if (row == GRAPH_NONE && !w->failed) staterow(w, 0);
  freegroups(&s);
}

/* }===================================================================== */

int merge_of (Merge *m, const MergeWish *wish) {
  Work w;
  Set all = {0};
  memset(&w, 0, sizeof(w));
  memset(m, 0, sizeof(*m));
  w.wish = wish;
  w.g = wish->graph;
  w.above = wish->paths ? w.g->parent : wish->dominators->dominator;
  w.m = m;
  w.listed = GRAPH_NONE;
  w.seen = calloc(w.g->n, sizeof(*w.seen));
  w.ways = malloc(w.g->n * sizeof(*w.ways));
  w.failed = w.seen == NULL || w.ways == NULL || !children(&w) ||
             (wish->paths && !weighpaths(&w)) || !merge_put(&all, 0);
  if (!wish->paths) {
    m->count = w.g->n - 1;
    m->self = m->value = w.g->bytes;
  }
  if (!w.failed) rows(&w, &all, NULL, GRAPH_NONE, 0);
  free(all.objects);
  free(w.first);
  free(w.child);
  free(w.value);
  free(w.count);
  free(w.seen);
  free(w.ways);
  if (w.failed) merge_free(m);
  return !w.failed;
}

void merge_free (Merge *m) {
  free(m->rows);
  memset(m, 0, sizeof(*m));
}
