/* SPDX-License-Identifier: MIT */
/*
** Dominators of a heap's objects: a dominates b when every path from the state to b
** passes a, so that b would go if a went. Computed by semi-NCA (Georgiadis, "Linear-time
** algorithms for dominators and related problems", 2005): near linear in practice, no
** recursion. 36 bytes an object and 4 a reference while it runs, 20 an object afterwards.
*/
#ifndef asamp_dominators_h
#define asamp_dominators_h

#include "graph.h"

typedef struct Dominators {
  uint32_t n;
  uint32_t *dominator;	/* the nearest of each object; of 0: 0 */
  uint64_t *retained;	/* bytes of all that it dominates, and its own */
  uint32_t *order;	/* objects, dominators before what they dominate */
} Dominators;

/* 0: no memory. */
int dominators_of (Dominators *d, const Graph *g);
void dominators_free (Dominators *d);

#endif
