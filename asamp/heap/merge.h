/* SPDX-License-Identifier: MIT */
/*
** A tree of a heap's objects (dominators or shortest paths) in which similar objects are
** merged: objects that are held in the same way ([1..n], a field of one name, ...) become one
** row. Chains of the same step (a linked list) are folded into one row; the value of an upvalue
** is folded into the upvalue. In a tree of dominators, the memory of the state itself is a
** separate row without an object, so that the rows at depth 0 add up to all bytes.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48

typedef struct MergeRow {
  uint32_t depth;		/* 0: held by the state */
  uint32_t above;		/* index of the parent row, or GRAPH_NONE */
  uint32_t example;		/* one of the row's objects: the one with the largest value */
  uint32_t from;		/* the object that holds 'example' */
  Way way;			/* how 'from' holds 'example' */
  uint32_t class;
  int merged, repeated;		/* 1 if the row has several objects; 1 if it has folded steps */
  int together;			/* 1: several objects hold 'example' jointly, and 'from' is
				   the last one on a shortest path */
  uint64_t count, self, value;	/* number of objects; their own bytes; their bytes including
				   everything below them in the tree */
} MergeRow;

typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;
  int paths;			/* 1: tree of shortest paths; 0: tree of dominators */
  uint32_t class;		/* for paths: only paths to objects of this class */
  const unsigned char *wanted;	/* for paths: only paths to objects v with wanted[v] != 0
				   (instead of 'class'); NULL: use 'class' */
  uint64_t least;		/* smallest value, in bytes, of a row that is included */
  uint32_t most;		/* largest number of rows */
} MergeWish;

typedef struct Merge {
  MergeRow *rows;		/* the rows; each comes after its parent */
  size_t n, size;
  uint64_t count, self, value;	/* sums over all objects that were requested */
  uint64_t left;		/* number of rows left out because they are too small, too
				   deep or too many */
} Merge;

/* Computes the merged tree. Returns 0 if there is not enough memory. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
