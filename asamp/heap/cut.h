/* SPDX-License-Identifier: MIT */
/*
** Measures the bytes that become free if certain references are removed, as by setting a field or
** variable to nil. The caller gives a path of references from a root; the last one is removed.
** Objects that are then unreachable count as freed. The Graph does not change.
**
**   CU1  the value of a field with a weak key is reached when its table and its key are;
**   CU2  a removed field's key is released too. A local variable and the upvalues for it are one
**        variable, recognized by name, value and nesting of functions;
**   CU3  objects with finalizers count like others.
*/
#ifndef asamp_cut_h
#define asamp_cut_h

#include "graph.h"

#include <stddef.h>
#include <stdint.h>

/* The removed references. */
typedef enum CutHow {
  CUT_REFERENCE,	/* the last reference of the path given to cut_of */
  CUT_ELEMENTS		/* all references to elements of the table at the end of this path */
} CutHow;

/* Result of cut_of. */
typedef struct Cut {
  uint64_t references;		/* number of removed references; references to keys do not count */
  uint64_t freed, objects;	/* bytes and number of unreachable objects */
  unsigned char *reached;	/* for each object: 1 if it stays reachable */
  uint32_t *parent;		/* for each reachable object: its parent on a shortest path */
  Way *way;			/* for each reachable object: the reference from 'parent' to it */
} Cut;

/*
** Measures the effect of removing the last reference of a path of n steps. A step is a text that
** describes a reference (holders.h), or many references, such as "[1..n]", so several paths may
** match. Returns 1 (call cut_free), or 0 with the reason in *why.
*/
int cut_of (Cut *c, const Graph *g, const char *const *steps, size_t n, CutHow how,
            const char **why);
void cut_free (Cut *c);

#endif
