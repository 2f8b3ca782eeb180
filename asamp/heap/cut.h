/* SPDX-License-Identifier: MIT */
/*
** Computes how many bytes of a snapshot would be freed if certain references were removed, for
** example by setting a field or variable to nil. The caller gives a path of references from a root;
** its last reference is removed. Objects that are then unreachable count as freed. The Graph does
** not change.
**
**   CU1  the value of a field with a weak key is reachable if both the table and the key are;
**   CU2  the key of a removed field is released, too. A local variable and the upvalues that refer
**        to it are removed together. An upvalue is recognized by the variable's name and value, and
**        because its function is nested in the function that declares the variable;
**   CU3  an unreachable object counts as freed even if it has a finalizer.
*/
#ifndef asamp_cut_h
#define asamp_cut_h

#include "graph.h"

#include <stddef.h>
#include <stdint.h>

/* Which references cut_of removes. */
typedef enum CutHow {
  CUT_REFERENCE,	/* the last reference of the path given to cut_of */
  CUT_ELEMENTS		/* all references to the elements of the table at the end of the path given
                           to cut_of */
} CutHow;

/* Result of cut_of. */
typedef struct Cut {
  uint64_t references;		/* number of removed references, not counting those to keys */
  uint64_t freed, objects;	/* bytes and number of the objects that become unreachable */
  unsigned char *reached;	/* for each object: 1 if it remains reachable */
  uint32_t *parent;		/* for each object that remains reachable: its parent on a shortest
                                   path */
  Way *way;			/* for each object that remains reachable: the reference from
                                   'parent' to it */
} Cut;

/*
** Computes the effect of removing the last reference of a path of n steps. A step is a text for one
** reference, such as `["close"]`, or for many, such as `[1..n]` (holders.h). So several paths may
** match: each of them loses its last reference. Returns 1 (call cut_free), or 0 with the reason in
** *why.
*/
int cut_of (Cut *c, const Graph *g, const char *const *steps, size_t n, CutHow how,
            const char **why);
void cut_free (Cut *c);

#endif
