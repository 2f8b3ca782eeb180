/* SPDX-License-Identifier: MIT */
/* Computes the dominator tree (dominators.h). A depth-first search numbers the objects from 0,
   which is the state. Unless stated otherwise, the arrays of Work are indexed by these numbers and
   contain them. Exceptions: 'order' contains objects, and 'number' is indexed by objects. */
#include "dominators.h"

#include <stdlib.h>
#include <string.h>

typedef struct Work {
  const Graph *g;
  uint32_t n;
  uint32_t *order;	/* order[i]: the object with the depth-first number i */
  uint32_t *number;	/* number[v]: the depth-first number of object v */
  uint32_t *above;	/* parent in the depth-first tree; eval() replaces it by an
                           ancestor nearer to the root */
  uint32_t *dominator;	/* parent in the depth-first tree; nearest() replaces it by the immediate
                           dominator */
  /* semi[v]: the semidominator of v. label[v]: among v and its ancestors up to above[v], the number
     with the smallest semidominator. */
  uint32_t *semi, *label;
  uint32_t *first, *from;  /* the objects that refer to v: from[first[v]] to from[first[v + 1] -
                              1] */
} Work;

/* Numbers the objects in depth-first order. 'above' is used as the stack of the search, 'semi' for
   the position in the edges of each object. */
static void dominators_search (Work *w) {
  const Graph *g = w->g;
  uint32_t v = 0, to, next = 1;
  Way way;
  memset(w->number, 0xff, (size_t)w->n * sizeof(*w->number));
  memset(w->semi, 0, (size_t)w->n * sizeof(*w->semi));
  w->order[0] = w->number[0] = 0;
  w->above[0] = 0;
  for (;;) {
    size_t i = w->semi[w->number[v]];
    int deeper = 0;
    while (!deeper && graph_edge(g, v, &i, &to, &way)) {
      if (w->number[to] == GRAPH_NONE) {
        w->semi[w->number[v]] = (uint32_t)i;
        w->number[to] = next;
        w->order[next] = to;
        w->above[next++] = w->number[v];
        v = to;
        deeper = 1;
      }
    }
    if (!deeper) {
      if (v == 0) break;
      v = w->order[w->above[w->number[v]]];
    }
  }
  w->n = next;  /* does not change w->n, because all objects are reachable (GR2: parents lead to
                   object 0) */
}

/* Computes the predecessors of each object, which are the objects with a reference to it. Returns 0
   if out of memory. */
static int reverse (Work *w) {
  const Graph *g = w->g;
  uint32_t v, to, sum = 0;
  Way way;
  size_t i;
  w->first = calloc((size_t)w->n + 2, sizeof(*w->first));
  if (w->first == NULL)
    return 0;
  for (v = 0; v < w->n; v++)
    for (i = 0; graph_edge(g, v, &i, &to, &way); )
      w->first[w->number[to] + 2]++;
  for (v = 0; v < w->n; v++) {
    sum += w->first[v + 2];
    w->first[v + 2] = sum;
  }
  w->from = malloc(((size_t)sum + 1) * sizeof(*w->from));
  if (w->from == NULL)
    return 0;
  for (v = 0; v < w->n; v++)
    for (i = 0; graph_edge(g, v, &i, &to, &way); )
      w->from[w->first[w->number[to] + 1]++] = w->number[v];
  return 1;
}

/* Returns the object with the smallest semidominator among v and its ancestors with numbers >=
   'last'. Compresses the path to these ancestors. 'stack' is a buffer with an element for each
   object. */
static uint32_t eval (Work *w, uint32_t v, uint32_t last, uint32_t *stack) {
  size_t n = 0;
  uint32_t u = v, least;
  if (w->above[v] < last)
    return w->label[v];
  do {
    stack[n++] = u;
    u = w->above[u];
  } while (w->above[u] >= last);
  least = w->label[u];
  while (n > 0) {
    uint32_t x = stack[--n];
    w->above[x] = w->above[u];
    if (w->semi[least] < w->semi[w->label[x]])
      w->label[x] = least;
    else
      least = w->label[x];
  }
  return w->label[v];
}

/* Computes the immediate dominator of each object i: the nearest dominator d of i's parent with d
   <= semi[i]. jump[i] is a more distant dominator, with which the search takes O(log n) steps.
   'jump' and 'depth' are buffers with an element for each object. */
static void nearest (Work *w, uint32_t *jump, uint32_t *depth) {
  uint32_t i;
  jump[0] = depth[0] = 0;
  for (i = 1; i < w->n; i++) {
    uint32_t d = w->dominator[i], j;
    while (d > w->semi[i])
      d = jump[d] > w->semi[i] ? jump[d] : w->dominator[d];
    w->dominator[i] = d;
    depth[i] = depth[d] + 1;
    j = jump[d];
    jump[i] = depth[d] - depth[j] == depth[j] - depth[jump[j]] ? jump[j] : d;
  }
}

/* Computes the semidominators, then the immediate dominators. 'stack' is a buffer with an element
   for each object. */
static void semidominators (Work *w, uint32_t *stack) {
  uint32_t i, k;
  for (i = 0; i < w->n; i++) {
    w->semi[i] = i;
    w->label[i] = i;
    w->dominator[i] = w->above[i];
  }
  for (i = w->n - 1; i >= 1; i--) {
    w->semi[i] = w->above[i];
    for (k = w->first[i]; k < w->first[i + 1]; k++) {
      uint32_t s = w->semi[eval(w, w->from[k], i + 1, stack)];
      if (s < w->semi[i])
        w->semi[i] = s;
    }
  }
  nearest(w, stack, w->label);
}

/* Computes d->retained, the retained bytes of each object. Returns 0 if out of memory. */
static int retained (Dominators *d, const Graph *g) {
  uint32_t i;
  d->retained = malloc((size_t)d->n * sizeof(*d->retained));
  if (d->retained == NULL)
    return 0;
  for (i = 0; i < d->n; i++)
    d->retained[i] = graph_size(g, i);
  for (i = d->n - 1; i >= 1; i--) {
    uint32_t v = d->order[i];
    d->retained[d->dominator[v]] += d->retained[v];
  }
  return 1;
}

int dominators_of (Dominators *d, const Graph *g) {
  Work w;
  size_t bytes = (size_t)g->n * sizeof(uint32_t);
  uint32_t *stack, i;
  int ok = 0;
  memset(d, 0, sizeof(*d));
  memset(&w, 0, sizeof(w));
  w.g = g;
  w.n = d->n = g->n;
  d->order = w.order = malloc(bytes);
  w.number = malloc(bytes);
  w.above = malloc(bytes);
  w.dominator = malloc(bytes);
  w.semi = malloc(bytes);
  w.label = malloc(bytes);
  stack = malloc(bytes);
  if (w.order && w.number && w.above && w.dominator && w.semi && w.label && stack) {
    dominators_search(&w);
    if (reverse(&w)) {
      semidominators(&w, stack);
      for (i = 0; i < w.n; i++)  /* converts w.dominator, which has depth-first numbers, to
                                    objects */
        w.label[w.order[i]] = w.order[w.dominator[i]];
      d->dominator = w.label;
      w.label = NULL;
      ok = 1;
    }
  }
  free(w.first);
  free(w.from);
  free(w.number);
  free(w.above);
  free(w.dominator);
  free(w.semi);
  free(w.label);
  free(stack);
  ok = ok && retained(d, g);
  if (!ok)
    dominators_free(d);
  return ok;
}

void dominators_free (Dominators *d) {
  free(d->dominator);
  free(d->retained);
  free(d->order);
  memset(d, 0, sizeof(*d));
}
