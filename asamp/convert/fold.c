/* SPDX-License-Identifier: MIT */
/* Chooses the outermost frames, such as main, that output leaves out ("folds", fold.h). A node of
   the call tree "reaches a script" if it or a descendant of it is a function of a script. The
   weight of a node is the number of nodes in its subtree that reach a script. The weight of a
   function is the sum of the weights of its nodes that have no caller. The function with the
   largest weight is folded first. If it is a function of a script, nothing is folded. */
#include "fold.h"

#include <stdlib.h>

/* Largest number of outermost frames of a stack that are folded. Fits into an element of
   Fold.folded. */
#define DEEPEST		64

/* Sets weight[i], for each call tree node i, to the number of counted nodes in its subtree,
   including i. A node counts if it or a descendant of it is a function of a script. All elements of
   'weight' must be 0 at the call. Visits the nodes from the last to the first, because children
   have higher numbers than their parents. */
static void weigh (const ReadProfile *r, uint32_t *weight) {
  uint32_t i;
  for (i = r->tree.n - 1; i > 0; i--) {
    if (weight[i] > 0 || !r->functions[r->fn[i]].native)
      weight[r->tree.nodes[i].parent] += ++weight[i];
  }
}

/* Returns the function that is folded first: the function whose nodes without a caller have the
   largest sum of weights. Returns 'nfunctions' if nothing is folded, because this function is not
   native or the call tree has no function of a script (all weights are 0). 'sums' is a buffer with
   an element for each function, all 0. */
static uint32_t fold_outermost (const ReadProfile *r, const uint32_t *weight, uint32_t *sums) {
  uint32_t best = r->nfunctions, i;
  for (i = 1; i < r->tree.n; i++) {
    if (r->tree.nodes[i].parent == 0)
      sums[r->fn[i]] += weight[i];
  }
  for (i = 0; i < r->nfunctions; i++) {
    if (sums[i] > 0 && (best == r->nfunctions || sums[i] > sums[best]))
      best = i;
  }
  return best < r->nfunctions && r->functions[best].native ? best : r->nfunctions;
}

/* Returns 1 if the caller of 'node' is folded and has the position 'depth' in the stack (1:
   outermost). */
static int isnext (const Fold *f, const ReadProfile *r, uint32_t node, int depth) {
  uint32_t parent = r->tree.nodes[node].parent;
  return parent != 0 && f->folded[parent] == depth;
}

/* Returns the native function to fold at position 'depth' + 1 of the stacks. Considers the nodes
   whose caller is folded at position 'depth' and whose weight is above 0, which means that they or
   their descendants are functions of a script. If all of these nodes have the same native function,
   returns this function. Otherwise, or if there are no such nodes, returns 'nfunctions': then
   nothing is folded. */
static uint32_t further (const Fold *f, const ReadProfile *r, const uint32_t *weight, int depth) {
  uint32_t function = r->nfunctions, i;
  for (i = 1; i < r->tree.n; i++) {
    if (weight[i] == 0 || !isnext(f, r, i, depth))
      continue;
    if (!r->functions[r->fn[i]].native || (function != r->nfunctions && r->fn[i] != function))
      return r->nfunctions;
    function = r->fn[i];
  }
  return function;
}

int fold_init (Fold *f, const ReadProfile *r, int keep) {
  uint32_t *weight, *sums, function = r->nfunctions, i;
  int depth, ok;
  f->folded = calloc(r->tree.n, 1);
  if (f->folded == NULL || keep)
    return f->folded != NULL;
  weight = calloc(r->tree.n, sizeof(*weight));
  sums = calloc(r->nfunctions + (size_t)1, sizeof(*sums));
  ok = weight != NULL && sums != NULL;
  if (ok) {
    weigh(r, weight);
    function = fold_outermost(r, weight, sums);
  }
  for (depth = 0; depth < DEEPEST && function < r->nfunctions; depth++) {
    for (i = 1; i < r->tree.n; i++) {
      if (r->fn[i] == function &&
          (depth == 0 ? r->tree.nodes[i].parent == 0 : isnext(f, r, i, depth)))
        f->folded[i] = (unsigned char)(depth + 1);
    }
    function = further(f, r, weight, depth + 1);
  }
  free(sums);
  free(weight);
  return ok;
}

void fold_free (Fold *f) {
  free(f->folded);
  f->folded = NULL;
}
