/* SPDX-License-Identifier: MIT */
/*
** Makes a tree of a heap's objects for display, by dominators or by shortest paths.
**
** Similar objects share a row: the objects of the parent row refer to them in the same way, such as
** by fields with the same name. In a tree of dominators, the objects of a row also have the same
** class. A linked list is one row; so is an upvalue with its value.
**
** In a tree of dominators, the memory of the Lua state itself is a row, too.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48	/* largest number of levels of rows */

/* A row of the displayed tree: similar objects with the same kind of reference to them. The row of
   the Lua state's own memory has example 0, count 0 and class GRAPH_NONE. */
typedef struct MergeRow {
  uint32_t depth;		/* number of ancestors */
  uint32_t above;		/* index of the parent row; GRAPH_NONE: none */
  uint32_t example;		/* the object of the row that contributes most to 'value' */
  uint32_t from;		/* the object that refers to 'example' by 'way' */
  Way way;			/* the reference from 'from' to 'example' */
  uint32_t class;		/* class of the row's objects; GRAPH_NONE: they have several
                                   classes */
  /* merged: 1 if the row represents several references to its objects, for example from several
     array elements; its description then names them together ("[1..n]"). repeated: 1 if the objects
     are a chain, such as a linked list. */
  int merged, repeated;
  /* 1: the objects of the parent row dominate 'example', but do not refer to it directly. 'from' is
     then the object before 'example' on the shortest path from the state. */
  int together;
  /* Sums over the objects of this row. Exception: in a tree of shortest paths (MergeWish.paths),
     'count' and 'value' are sums over the wanted objects (MergeWish.wanted, class) of this row and
     of all rows below it.
     count  number of objects
     self   their own bytes
     value  bytes that they retain */
  uint64_t count, self, value;
} MergeRow;

/* Arguments of merge_of. */
typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;	/* the dominators of 'graph'; must not be NULL */
  int paths;			/* 1: makes a tree of shortest paths; 0: a tree of dominators */
  /* The objects to which a tree of paths leads: each object v with wanted[v] != 0 or, if 'wanted'
     is NULL, each object of the class 'class'. */
  uint32_t class;
  const unsigned char *wanted;
  uint64_t least;		/* rows with a smaller MergeRow.value are omitted */
  uint32_t most;		/* largest number of rows */
} MergeWish;

/* Result of merge_of. */
typedef struct Merge {
  MergeRow *rows;		/* all rows, each after its parent row */
  size_t n, size;		/* number of rows, capacity */
  /* Totals of the tree: number of objects, their own bytes, and the bytes that they retain. In a
     tree of shortest paths, only the objects to which the paths lead count (MergeWish.wanted,
     class), not the other objects on the paths. */
  uint64_t count, self, value;
  uint64_t left;		/* number of omitted rows: too small, too deep, or more than
                                   MergeWish.most */
  uint64_t cut;			/* number of omitted rows that are large enough, but too deep, or
                                   more than MergeWish.most */
} Merge;

/* Makes the tree that *wish describes. Returns 0 if out of memory; *m is then zero. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
