/* SPDX-License-Identifier: MIT */
/* Classes of the objects of a heap. The class of a table or userdata with a metatable is the name
   of the metatable: its field __name, or else the name of the global, field or variable that refers
   to the metatable or its __index table. The class of any other object is its kind. */
#ifndef asamp_classnames_h
#define asamp_classnames_h

#include "graph.h"

/* The classes of a Graph. */
typedef struct Naming {
  uint32_t *class;	/* class of each object, an index in 'names' */
  char **names;		/* names of the classes; the first HEAP_KINDS + 1 are the kinds of objects,
                           such as "function", in the order of HEAP_TABLE, ... */
  uint32_t n;		/* number of classes */
  size_t size;		/* capacity of 'names' */
} Naming;

/* Computes the classes of all objects. Returns 0 if out of memory; *m is then zero. */
int naming_of (Naming *m, const Graph *g);
void naming_free (Naming *m);

#endif
