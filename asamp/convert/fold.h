/* SPDX-License-Identifier: MIT */
/*
** How a program comes to its script is no news: the C functions with which every stack
** that reaches a script begins (_start, main, pmain ...) are folded away by reports and
** by conversions:
**   FO1  of the stacks that reach a function of a script those count that have the most
**        common outermost function; the native functions with which all of these begin
**        are folded. (Other threads begin elsewhere, and so do the few stacks of samples
**        of time that could not be walked to their ends.)
**   FO2  no stack becomes empty: one that ends in such a frame keeps that frame.
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
