/* SPDX-License-Identifier: MIT */
/*
** Classes of the objects of a heap: by kind, but tables and userdata by the name of
** their metatable: its __name, or that under which it is held (a global, a module's
** field, a variable).
*/
#ifndef asamp_classnames_h
#define asamp_classnames_h

#include "graph.h"

typedef struct Naming {
  uint32_t *class;	/* of every object */
  char **names;		/* of classes; the first HEAP_KINDS + 1 are kinds */
  uint32_t n;
  size_t size;
} Naming;

/* 0: no memory. */
int naming_of (Naming *m, const Graph *g);
void naming_free (Naming *m);

#endif
