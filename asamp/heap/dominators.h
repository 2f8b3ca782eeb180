/* SPDX-License-Identifier: MIT */
/* The dominator tree of a heap. Object a dominates object b if every path from the state to b
   contains a: if a became garbage, so would b. The algorithm is semi-NCA (Georgiadis 2005), without
   recursion. It takes 32 bytes per object and 4 per reference. */
#ifndef asamp_dominators_h
#define asamp_dominators_h

#include "graph.h"

/* The dominators of a Graph. */
typedef struct Dominators {
  uint32_t n;		/* number of objects */
  uint32_t *dominator;	/* immediate dominator of each object; 0 for object 0 */
  uint64_t *retained;	/* bytes of each object and of all objects that it dominates */
  uint32_t *order;	/* all objects, each after its dominator */
} Dominators;

/* Computes the dominators of all objects. Returns 0 if out of memory; *d is then zero. */
int dominators_of (Dominators *d, const Graph *g);
void dominators_free (Dominators *d);

#endif
