/* SPDX-License-Identifier: MIT */
/*
** The dominator tree of a heap's objects. Object a dominates object b if every path of references
** from the state to b contains a. If a became garbage, b would too. The algorithm is semi-NCA
** (Georgiadis, "Linear-time algorithms for dominators and related problems", 2005), without
** recursion. Its time is almost linear in practice. While it runs it needs 32 bytes for each object
** and 4 for each reference. The result has 16 bytes for each object.
*/
#ifndef asamp_dominators_h
#define asamp_dominators_h

#include "graph.h"

/* The dominators of a Graph. */
typedef struct Dominators {
  uint32_t n;		/* number of objects */
  uint32_t *dominator;	/* immediate dominator of each object; that of object 0 is 0 */
  uint64_t *retained;	/* bytes that each object retains: its own and those of all objects that
			   it dominates */
  uint32_t *order;	/* all objects; a dominator comes before the objects that it dominates */
} Dominators;

/*
** Computes the dominators of g. Returns 0 if there is not enough memory; *d is then all zero.
*/
int dominators_of (Dominators *d, const Graph *g);
void dominators_free (Dominators *d);

#endif
