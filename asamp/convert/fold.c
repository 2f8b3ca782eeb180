/* SPDX-License-Identifier: MIT */
/*
** Chooses the frames to leave out, the folded frames (fold.h), from the outermost frames inwards. A
** node reaches a script if it or one of its descendants in the call tree is a function of a script.
** The weight of a node is the number of nodes in its subtree, itself included, that reach a script.
*/
#include "fold.h"

#include <stdlib.h>

#define DEEPEST		64 /* largest number of frames left out of a stack; fits into a byte */

/*
** Computes the weights of all nodes (see the head); 'weight' is zeroed. Children have higher
** indices than their parents, so one pass from the end is enough.
*/
static void weigh (const ReadProfile *r, uint32_t *weight) {
  uint32_t i;
  for (i = r->tree.n - 1; i > 0; i--) {
    if (weight[i] > 0 || !r->functions[r->fn[i]].native)
      weight[r->tree.nodes[i].parent] += ++weight[i];
  }
}

/*
** Returns the function with the largest sum of weights (see the head) among the outermost frames.
** Returns 'nfunctions' if that is a function of a script, or no weight is above 0. 'sums' is a
** buffer with a zero for each function.
*/
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

/* Returns 1 if the caller of 'node' is a frame that is left out as the frame number 'depth' of its
   stack. */
static int isnext (const Fold *f, const ReadProfile *r, uint32_t node, int depth) {
  uint32_t parent = r->tree.nodes[node].parent;
  return parent != 0 && f->folded[parent] == depth;
}

/*
** Returns the native function to leave out as the next frame: the function of all nodes that reach
** a script and whose callers are left out as frame number 'depth' (FO1). Returns 'nfunctions' if
** that is no single native function.
*/
static uint32_t further (const Fold *f, const ReadProfile *r, const uint32_t *weight,
                         int depth) {
  uint32_t function = r->nfunctions, i;
  for (i = 1; i < r->tree.n; i++) {
    if (weight[i] == 0 || !isnext(f, r, i, depth))
      continue;
    if (!r->functions[r->fn[i]].native ||
        (function != r->nfunctions && r->fn[i] != function))
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
