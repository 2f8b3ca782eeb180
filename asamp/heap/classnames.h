/* SPDX-License-Identifier: MIT */
/*
** Classes of the objects of a heap. Tables and userdata are classified by the name of their
** metatable: its __name; else the name by which the metatable is held (a global, a field of a
** module, a variable); else the name by which the table in its field __index is held. All other
** objects are classified by their kind.
*/
#ifndef asamp_classnames_h
#define asamp_classnames_h

#include "graph.h"

/* The classes of a Graph. */
typedef struct Naming {
  uint32_t *class;	/* class of each object, an index into 'names' */
  char **names;		/* names of the classes; the first HEAP_KINDS + 1 are those of the kinds */
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
