/* SPDX-License-Identifier: MIT */
/*
** Measures the bytes that become free if certain references are removed, as a program does when it
** sets a field, an element or a variable to nil. The caller names the references by a path: the
** steps from a root to the object whose reference is removed. Marks the objects that are reachable
** from the state without these references, and adds up all others, which a collection would then
** free. The Graph does not change. Rules:
**
**   CU1  a value under a weak key is reached when both its table and its key are reached;
**   CU2  the table's reference to the key of a removed field is removed too. A local variable and
**        the upvalues through which functions use it are one variable, and are removed together.
**        They are recognized by the name, the value, and the nesting of the functions;
**   CU3  an object that has a finalizer, or is pending finalization, counts as any other.
**
** Memory: up to 30 bytes for each object, and 32 for each value under a weak key.
*/
#ifndef asamp_cut_h
#define asamp_cut_h

#include "graph.h"

#include <stddef.h>
#include <stdint.h>

/* Which references cut_of treats as removed. */
typedef enum CutHow {
  CUT_REFERENCE,	/* the last reference of the path that the caller gives */
  CUT_ELEMENTS		/* the references to all elements of the table at the end of that path */
} CutHow;

/* Result of cut_of. */
typedef struct Cut {
  uint64_t references;		/* number of removed references; those from tables to the keys of
				   removed fields (CU2) do not count */
  uint64_t freed, objects;	/* bytes and number of the objects that are not reachable without
				   the removed references */
  unsigned char *reached;	/* for each object: 1 if it is reachable without the removed
				   references */
  uint32_t *parent;		/* for each reachable object: its holder on a shortest path without
				   the removed references */
  Way *way;			/* for each reachable object: the reference by which this holder
				   holds it */
} Cut;

/*
** Removes the references that a path from the state names, and measures the effect. The n steps of
** the path have the form of holders.h. A step such as "[1..n]" represents many references, so
** several paths in g may match. Of each, removes the last reference or, with CUT_ELEMENTS, the
** references to the elements of the table at its end.
**
** Returns 1; the caller then frees *c with cut_free. Returns 0, with the reason in *why, a static
** string, if there is no such path, if no Lua code can remove a reference, or if there is not
** enough memory.
*/
int cut_of (Cut *c, const Graph *g, const char *const *steps, size_t n, CutHow how,
            const char **why);
void cut_free (Cut *c);

#endif
