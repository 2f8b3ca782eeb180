/* SPDX-License-Identifier: MIT */
/*
** Makes a tree of a heap's objects for display, by dominators or by shortest paths, in which
** similar objects are merged into rows. The children of a row that are held in the same way (as an
** array element, as the field of one name, ...) become one row; in a tree of dominators, only if
** they also have the same class. A chain of equal steps (a linked list) becomes one row, and so do
** an upvalue and its value. In a tree of dominators, the memory of the state itself is a row, so
** that the rows at depth 0, including those left out, add up to all bytes.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48	/* limit of the tree's depth: each row has depth < MERGE_DEPTH */

/* A row of the displayed tree: similar objects that are held in the same way. The row of the
   state's memory has 'example' 0, 'count' 0 and 'class' GRAPH_NONE. */
typedef struct MergeRow {
  uint32_t depth;		/* number of the row's ancestors; 0: the state itself holds the
				   row's objects */
  uint32_t above;		/* index of the parent row, or GRAPH_NONE */
  uint32_t example;		/* the object of the row that would have the largest 'value' as a
			   row of its own */
  uint32_t from;		/* the object that holds 'example' */
  Way way;			/* the reference by which 'from' holds 'example' */
  uint32_t class;		/* class of the row's objects; GRAPH_NONE: they have several */
  /* 'merged' 1: the row represents several references. 'repeated' 1: it represents a chain of
     equal steps. */
  int merged, repeated;
  int together;			/* 1: no object of the parent row was found to hold 'example'
				   directly; several other objects hold it, and 'from' is the one on
				   the shortest path */
  /* 'self': bytes of the row's objects. In a tree of dominators, 'count' is the number of these
     objects, and 'value' the bytes that they retain. In a tree of paths, which leads to the objects
     that the caller wants (MergeWish), 'count' and 'value' are the number and the retained bytes of
     the wanted objects of the row and of the rows below it. */
  uint64_t count, self, value;
} MergeRow;

/* Arguments of merge_of: which tree of which heap to make. */
typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;	/* the dominators of 'graph'; required for trees of dominators and
			   of paths */
  int paths;			/* 1: tree of shortest paths; 0: tree of dominators */
  /* The wanted objects: the objects v with wanted[v] != 0 or, if 'wanted' is NULL, the objects of
     'class'. A tree of paths has only the paths to these objects. */
  uint32_t class;
  const unsigned char *wanted;
  uint64_t least;		/* smallest value, in bytes, of a row that is included */
  uint32_t most;		/* largest number of rows */
} MergeWish;

/* Result of merge_of. */
typedef struct Merge {
  MergeRow *rows;		/* the rows; each comes after its parent */
  size_t n, size;		/* number of rows, and capacity of 'rows' */
  /* Totals of all objects (tree of dominators) or of the wanted objects (tree of paths): 'count':
     their number; 'self': their own bytes; 'value': the bytes that they retain. */
  uint64_t count, self, value;
  uint64_t left;		/* number of rows left out because they are too small, too deep or
				   too many; rows below a row that is left out are not counted */
} Merge;

/* Computes a tree of the objects of a heap in which similar objects share a row (a merged tree).
   Returns 0 if there is not enough memory; *m is then all zero. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
