/* SPDX-License-Identifier: MIT */
/*
** Classes of the objects of a heap. The class of a table or userdata is the name of its metatable:
** the metatable's __name; or if it has none, the name by which the metatable is held (a global, a
** field of a module, a variable); or else the name by which the table in its field __index is held.
** The class of any other object is its kind.
*/
#ifndef asamp_classnames_h
#define asamp_classnames_h

#include "graph.h"

/* The classes of a Graph. */
typedef struct Naming {
  uint32_t *class;	/* class of each object, as an index into 'names' */
  char **names;		/* names of the classes; the first HEAP_KINDS + 1 are those of the kinds of
			   objects (heapformat.h) */
  uint32_t n;		/* number of classes */
  size_t size;		/* capacity of 'names' */
} Naming;

/*
** Computes the classes of all objects of g. Returns 0 if there is not enough memory; *m is then all
** zero.
*/
int naming_of (Naming *m, const Graph *g);
void naming_free (Naming *m);

#endif
