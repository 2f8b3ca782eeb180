/* SPDX-License-Identifier: MIT */
/*
** Makes a tree of a heap's objects for display, by dominators or by shortest paths, in which
** similar objects share a row: children held in the same way (as array elements, as the field of
** one name), in a tree of dominators also of one class. A chain of equal steps (a linked list) is
** one row, as is an upvalue with its value. In a tree of dominators, the state's own memory is a
** row.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48	/* most levels of rows */

/* A row: similar objects held in the same way. The row of the state's memory has example 0,
   count 0 and class GRAPH_NONE. */
typedef struct MergeRow {
  uint32_t depth;		/* number of ancestors */
  uint32_t above;		/* index of the parent row, or GRAPH_NONE */
  uint32_t example;		/* the row's object with the largest value (see 'value' below) */
  uint32_t from;		/* object that holds 'example' */
  Way way;			/* reference from 'from' to 'example' */
  uint32_t class;		/* class of the objects; GRAPH_NONE: several classes */
  /* 'merged' 1: the row stands for several references. 'repeated' 1: for a chain of equal steps. */
  int merged, repeated;
  int together;			/* 1: no object of the parent row refers to 'example' directly;
                                   'from' is its parent on the shortest path */
  /* 'self': bytes of the row's objects. In a tree of dominators, 'count' is the number of these
     objects, and 'value' the bytes that they retain. In a tree of paths, 'count' and 'value' are
     those of the wanted objects in this row and in all rows below. */
  uint64_t count, self, value;
} MergeRow;

/* Arguments of merge_of. */
typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;	/* of 'graph'; required */
  int paths;			/* 1: tree of shortest paths; 0: of dominators */
  /* Wanted objects of a tree of paths: v with wanted[v] != 0; NULL: those of 'class'. */
  uint32_t class;
  const unsigned char *wanted;
  uint64_t least;		/* smallest value of an included row, bytes */
  uint32_t most;		/* largest number of rows */
} MergeWish;

/* Result of merge_of. */
typedef struct Merge {
  MergeRow *rows;		/* each after its parent */
  size_t n, size;		/* number of rows, capacity */
  /* Totals of all objects (of the wanted ones in a tree of paths): number, own bytes, retained
     bytes. */
  uint64_t count, self, value;
  uint64_t left;		/* rows left out: too small, too deep or too many */
} Merge;

/* Makes a merged tree. Returns 0 if there is not enough memory; *m is then zero. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
