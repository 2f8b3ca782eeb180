/* SPDX-License-Identifier: MIT */
/*
** A tree of a heap's objects (of dominators, or of shortest paths) with what is alike
** merged: the objects that one merged object holds in the same way ([1..n], a field of
** one name, ...) are one row. What repeats (a linked list) is folded into one row, and
** so is what an upvalue holds with the upvalue. Of dominators, what the state takes itself
** is a row beside its roots, of no object: all rows at depth 0 come to all bytes.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48

typedef struct MergeRow {
  uint32_t depth;		/* 0: held by the state */
  uint32_t above;		/* row, or GRAPH_NONE */
  uint32_t example;		/* an object of it, the largest; */
  uint32_t from;		/* ... what holds it, ... */
  Way way;			/* ... and how */
  uint32_t class;
  int merged, repeated;		/* several objects; folded */
  int together;			/* several hold it; 'from' is the first of a shortest path */
  uint64_t count, self, value;	/* objects, bytes of their own, bytes by the tree */
} MergeRow;

typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;
  int paths;			/* of shortest paths, else of dominators */
  uint32_t class;		/* paths: to the objects of this class, ... */
  const unsigned char *wanted;	/* ... or, when not NULL, to these */
  uint64_t least;		/* bytes of a row that is shown */
  uint32_t most;		/* rows */
} MergeWish;

typedef struct Merge {
  MergeRow *rows;		/* each behind the one above it */
  size_t n, size;
  uint64_t count, self, value;	/* of all that was asked for */
  uint64_t left;		/* rows that are too small, or too many */
} Merge;

/* 0: no memory. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
