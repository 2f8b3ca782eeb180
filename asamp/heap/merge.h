/* SPDX-License-Identifier: MIT */
/*
** Makes a tree of a heap's objects for display, by dominators or by shortest paths. Similar objects
** share a row: the objects of the row above hold them in the same way, such as in fields of the
** same name. In a tree of dominators they also have the same class. A linked list is one row; so is
** an upvalue with its value. In a tree of dominators, the state's own memory is a row.
*/
#ifndef asamp_merge_h
#define asamp_merge_h

#include "dominators.h"
#include "graph.h"
#include "classnames.h"

#define MERGE_DEPTH	48	/* largest number of levels of rows */

/* A row of the displayed tree: similar objects that are held in the same way. The row of the Lua
   state's own memory has example 0, count 0 and class GRAPH_NONE. */
typedef struct MergeRow {
  uint32_t depth;		/* number of ancestors */
  uint32_t above;		/* index of the parent row, or GRAPH_NONE */
  uint32_t example;		/* object of the row that adds most to 'value' */
  uint32_t from;		/* object with the reference 'way' to 'example' */
  Way way;			/* reference from the object 'from' to the object 'example' */
  uint32_t class;		/* class of the objects; GRAPH_NONE: several classes */
  /* 'merged' 1: several references lead to the row's objects. 'repeated' 1: the row's objects are a
     chain, such as a linked list. */
  int merged, repeated;
  int together;			/* 1: no object of the row above refers directly to 'example', so
                                   'from' is the object before it on the shortest path */
  /* Number of objects, their own bytes ('self'), the bytes that they retain ('value'). In a tree of
     paths, 'count' and 'value' are of the wanted objects in this row and in all rows below. */
  uint64_t count, self, value;
} MergeRow;

/* Arguments of merge_of. */
typedef struct MergeWish {
  const Graph *graph;
  const Naming *naming;
  const Dominators *dominators;	/* of 'graph'; required */
  int paths;			/* 1: tree of shortest paths; 0: of dominators */
  /* A tree of paths shows the paths to the wanted objects: each object v with wanted[v] != 0 or, if
     'wanted' is NULL, each object of the class 'class'. */
  uint32_t class;
  const unsigned char *wanted;
  uint64_t least;		/* rows with a smaller MergeRow.value are left out */
  uint32_t most;		/* largest number of rows */
} MergeWish;

/* Result of merge_of. */
typedef struct Merge {
  MergeRow *rows;		/* each after its parent */
  size_t n, size;		/* number of rows, capacity */
  /* Number of objects in the tree, their own bytes, and the bytes that they retain. In a tree of
     paths, only the wanted objects count. */
  uint64_t count, self, value;
  uint64_t left;		/* rows left out: too small, too deep or too many */
  uint64_t cut;			/* of these, rows that are large enough, but too deep or too many */
} Merge;

/* Makes a merged tree. Returns 0 if out of memory; *m is then zero. */
int merge_of (Merge *m, const MergeWish *wish);
void merge_free (Merge *m);

#endif
