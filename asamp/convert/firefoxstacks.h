/* SPDX-License-Identifier: MIT */
/*
** Numbers the stacks of a Firefox profile, and makes the stacks with labels. A stack is a frame and
** a prefix, which is the stack of the caller. The numbers are in this order: stacks of the nodes of
** the call tree; stacks of nodes with labels as the outermost frame; stacks of samples, with the
** sample's kind as the innermost frame (leaf); stacks that show a path of references (heldstack.h).
** Rules:
**   FS1  the number of a stack's prefix is smaller than the stack's own;
**   FS2  a stack of a node with labels exists only if a sample with these labels needs it.
*/
#ifndef asamp_firefoxstacks_h
#define asamp_firefoxstacks_h

#include "fold.h"
#include "sitetable.h"

/* A stack whose outermost frame shows a label set. */
typedef struct FirefoxStack {
  uint32_t node;       /* node of the tree; 0: the stack consists only of the frame of labels */
  uint32_t set;        /* index into 'sets': the label set */
  /* index in 'list' of the prefix (the stack of the caller), plus 1; 0: none */
  uint32_t parent;
} FirefoxStack;

typedef struct FirefoxStacks {
  const ReadProfile *r;
  const Fold *fold;
  FirefoxStack *list;  /* the stacks whose outermost frame shows a label set */
  size_t n, size;
  IdMap byplace;       /* maps a label set and a node to the index in 'list' */
  uint32_t *sets;      /* the reader's numbers of the label sets that occur */
  size_t nsets, setsize;
} FirefoxStacks;

#define FIREFOXSTACKS_NONE	UINT64_MAX

/*
** Creates the stacks with labels for the samples in the tables of sites, whose tags (Site.tag) are
** label sets. Returns 0 if there is not enough memory. firefoxstacks_free must be called in both
** cases.
*/
int firefoxstacks_init (FirefoxStacks *s, const ReadProfile *r, const Fold *fold,
                        const SiteTable *leaves, const SiteTable *ticks);
void firefoxstacks_free (FirefoxStacks *s);

/* Returns the number, from 0, of the stack of a node with the label set 'labels' (0: none). There
   must be a site with both. Returns FIREFOXSTACKS_NONE for node 0 without labels, whose stack has
   no frame. */
uint64_t firefoxstacks_of (const FirefoxStacks *s, uint32_t node, uint32_t labels);

/* Returns the number of stacks of nodes, with and without labels, which come first in the
   numbering. */
static inline size_t firefoxstacks_count (const FirefoxStacks *s) {
  return s->r->tree.n - 1 + s->n;
}

#endif
