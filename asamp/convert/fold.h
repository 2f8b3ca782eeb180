/* SPDX-License-Identifier: MIT */
/*
** Every stack that reaches a script starts with the same C functions (_start, main, pmain ...),
** which say nothing about the program. Reports and conversions leave out ("fold away") these
** frames:
**   FO1  only stacks that reach a function of a script are considered, and of these only the ones
**        with the most common outermost function: other threads start with another function, and
**        some time samples have truncated stacks. The native functions with which all
**        of the considered stacks start are folded;
**   FO2  no stack becomes empty: a stack that ends in a folded frame keeps that frame.
*/
#ifndef asamp_fold_h
#define asamp_fold_h

#include "readprofile.h"

typedef struct Fold {
  unsigned char *folded;  /* by node: the depth, from 1, at which the frame is folded; 0: it is
                             shown */
} Fold;

/*
** Initializes f for a profile that was read. If 'keep' is set, nothing is folded. Returns 0 if
** there is not enough memory.
*/
int fold_init (Fold *f, const ReadProfile *r, int keep);
void fold_free (Fold *f);

/* Returns the caller of a node, or 0 if it has none or the caller is folded. */
static inline uint32_t fold_parent (const Fold *f, const ReadProfile *r, uint32_t node) {
  uint32_t parent = r->tree.nodes[node].parent;
  return f->folded[parent] ? 0 : parent;
}

#endif
