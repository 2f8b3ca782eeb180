/* SPDX-License-Identifier: MIT */
/*
** How a program comes to its script is no news: the C functions with which every stack
** that reaches a script begins (_start, main, pmain ...) are folded away by reports and
** by conversions:
**   FO1  what is folded are the native frames, by function, with which all stacks begin
**        that reach a function of a script and have the most common outermost one.
**        (Other threads begin elsewhere, and so do the few stacks of samples of time
**        that could not be walked to their ends.)
**   FO2  no stack becomes empty: where samples end in such a frame, it is there, alone.
*/
#ifndef asamp_fold_h
#define asamp_fold_h

#include "readprofile.h"

typedef struct Fold {
  unsigned char *folded;  /* by node: depth of a frame that is folded; 0: it is not */
} Fold;

/* 'keep': nothing is folded. 0 without memory. */
int fold_init (Fold *f, const ReadProfile *r, int keep);
void fold_free (Fold *f);

/* The node outside of a node; 0: there is none to be shown. */
static inline uint32_t fold_parent (const Fold *f, const ReadProfile *r, uint32_t node) {
  uint32_t parent = r->tree.nodes[node].parent;
  return f->folded[parent] ? 0 : parent;
}

#endif
