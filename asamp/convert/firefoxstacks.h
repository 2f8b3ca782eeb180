/* SPDX-License-Identifier: MIT */
/*
** The stacks of a Firefox profile, in this order: of the tree's nodes, of nodes with labels as
** the outermost frame, of leaves, of holders. Rules:
**   FS1  a stack's prefix has a smaller number;
**   FS2  a stack of a node with labels exists only if a sample with these labels needs it.
*/
#ifndef asamp_firefoxstacks_h
#define asamp_firefoxstacks_h

#include "fold.h"
#include "sitetable.h"

typedef struct FirefoxStack {
  uint32_t node;       /* node of the tree; 0: the stack consists only of the frame of labels */
  uint32_t set;        /* index into 'sets' */
  uint32_t parent;     /* number of the next outer stack, counted from 1; 0: none */
} FirefoxStack;

typedef struct FirefoxStacks {
  const ReadProfile *r;
  const Fold *fold;
  FirefoxStack *list;  /* the stacks with labels */
  size_t n, size;
  IdMap byplace;       /* from set and node to the index in 'list' */
  uint32_t *sets;      /* sets of labels, by the reader's numbers */
  size_t nsets, setsize;
} FirefoxStacks;

#define FIREFOXSTACKS_NONE	UINT64_MAX

/*
** Creates the stacks that the sites require, by node and tag. Returns 0 if there is not enough
** memory. firefoxstacks_free must be called in both cases.
*/
int firefoxstacks_init (FirefoxStacks *s, const ReadProfile *r, const Fold *fold,
                        const SiteTable *leaves, const SiteTable *ticks);
void firefoxstacks_free (FirefoxStacks *s);

/*
** Returns the number (from 0) of the stack of a node with labels (0: none), or
** FIREFOXSTACKS_NONE for a stack without a frame.
*/
uint64_t firefoxstacks_of (const FirefoxStacks *s, uint32_t node, uint32_t labels);

/* Returns the number of stacks before those of leaves. */
static inline size_t firefoxstacks_count (const FirefoxStacks *s) {
  return s->r->tree.n - 1 + s->n;
}

#endif
