/* SPDX-License-Identifier: MIT */
/*
** Classes of the objects of a heap. Tables and userdata are classified by the name of their
** metatable: its __name, or the name by which it is held (a global, a field of a module, a
** variable). All other objects are classified by their kind.
*/
#ifndef asamp_classnames_h
#define asamp_classnames_h

#include "graph.h"

typedef struct Naming {
  uint32_t *class;	/* class of each object, an index into 'names' */
  char **names;		/* names of the classes; the first HEAP_KINDS + 1 are those of the kinds */
  uint32_t n;
  size_t size;
} Naming;

/* Computes the classes of all objects of g. Returns 0 if there is not enough memory. */
int naming_of (Naming *m, const Graph *g);
void naming_free (Naming *m);

#endif
