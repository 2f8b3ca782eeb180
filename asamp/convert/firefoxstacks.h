/* SPDX-License-Identifier: MIT */
/*
** Numbers the stacks of a Firefox profile. A stack is a frame and a prefix, the caller's stack.
** Numbers are given in this order:
** - stacks of call tree nodes
** - stacks of call tree nodes with labels, which are the outermost frame
** - stacks of samples, in which the sample's kind is the innermost frame
** - paths of references (heldstack.h)
**
**   FS1  a stack's prefix has a smaller number;
**   FS2  a stack with labels exists only if a sample needs it.
*/
#ifndef asamp_firefoxstacks_h
#define asamp_firefoxstacks_h

#include "fold.h"
#include "sitetable.h"

/* A stack whose outermost frame is a label set. */
typedef struct FirefoxStack {
  uint32_t node;       /* call tree node of the innermost frame; 0: the label set is the only frame
                          of the stack */
  uint32_t set;        /* the label set, index in FirefoxStacks.sets */
  /* 1 + index in FirefoxStacks.list of the prefix, that is, this stack without its innermost frame;
     0: the prefix is empty */
  uint32_t parent;
} FirefoxStack;

typedef struct FirefoxStacks {
  const ReadProfile *r;
  const Fold *fold;
  FirefoxStack *list;  /* the stacks with labels */
  size_t n, size;
  IdMap byplace;       /* maps a label set and a call tree node to the index in 'list' of their
                          stack */
  uint32_t *sets;      /* numbers (ReadSample.labels) of the label sets that the stacks in 'list'
                          have */
  size_t nsets, setsize;
} FirefoxStacks;

#define FIREFOXSTACKS_NONE	UINT64_MAX

/* Creates the stacks with labels that the sites of 'leaves' and 'ticks' have. The label set of a
   site is Site.tag. Returns 0 if out of memory; call firefoxstacks_free in either case. */
int firefoxstacks_init (FirefoxStacks *s, const ReadProfile *r, const Fold *fold,
                        const SiteTable *leaves, const SiteTable *ticks);
void firefoxstacks_free (FirefoxStacks *s);

/* Returns the number of the stack of a call tree node with the label set 'labels' (0: no labels).
   If 'labels' is not 0, a site passed to firefoxstacks_init must have had this node and set.
   Returns FIREFOXSTACKS_NONE for an empty stack. */
uint64_t firefoxstacks_of (const FirefoxStacks *s, uint32_t node, uint32_t labels);

/* Returns how many stacks firefoxstacks_of numbers: the stacks whose innermost frame is a function,
   and the stacks that consist of a label set. The caller gives the other stacks, such as those
   whose innermost frame is a sample's kind, the numbers from this count on. */
static inline size_t firefoxstacks_count (const FirefoxStacks *s) {
  return s->r->tree.n - 1 + s->n;
}

#endif
