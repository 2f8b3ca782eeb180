/* SPDX-License-Identifier: MIT */
/*
** Measures the bytes that become free if a named reference is removed: marks the objects of a
** snapshot from the state on without following that reference, and adds up the others. A collection
** would free the same after the program had set the field, element or variable to nil; nothing is
** changed, and no finalizer runs. Rules:
**   CU1  a value under a weak key is reached when its table and its key are;
**   CU2  a field's key is removed with its value. A local variable that functions refer to is
**        removed together with their upvalues, and an upvalue with the local variable: both are
**        one variable, recognized by its name, its value, and the nesting of the functions;
**   CU3  objects that wait for a finalizer, or have one, count as any others.
** Memory: at most 30 bytes for each object while it runs.
*/
#ifndef asamp_cut_h
#define asamp_cut_h

#include "graph.h"

#include <stddef.h>
#include <stdint.h>

/* The references that are removed. */
typedef enum CutHow {
  CUT_REFERENCE,	/* the last reference of the path */
  CUT_ELEMENTS		/* all elements of the table at its end */
} CutHow;

typedef struct Cut {
  uint64_t references;		/* number of removed references; keys do not count */
  uint64_t freed, objects;	/* bytes and number of the objects that are not reached */
  unsigned char *reached;	/* for each object: 1 if it is reached */
  uint32_t *parent;		/* for each reached object: a shortest path's last edge */
  Way *way;
} Cut;

/*
** Removes the references that a path from the state names; its n 'steps' have the form of
** holders.h. All objects with that path count, because a step such as "[1..n]" represents many
** references. Returns 1; or 0 with the reason in *why, a static string: no such path, a reference
** that no Lua code can remove, or no memory. After 1 the caller frees *c with cut_free.
*/
int cut_of (Cut *c, const Graph *g, const char *const *steps, size_t n, CutHow how,
            const char **why);
void cut_free (Cut *c);

#endif
