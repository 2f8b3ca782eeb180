/* SPDX-License-Identifier: MIT */
/*
** Stacks of a Firefox profile: those of the tree's nodes, then those that have labels as
** their outermost frame, then those of leaves, then those of holders. Rules:
**   FS1  a stack's prefix has a lower number;
**   FS2  a node has a stack below labels only where something with these labels is.
*/
#ifndef asamp_firefoxstacks_h
#define asamp_firefoxstacks_h

#include "fold.h"
#include "sitetable.h"

typedef struct FirefoxStack {
  uint32_t node;       /* 0: the labels' own frame, ... */
  uint32_t set;        /* ... of 'sets' */
  uint32_t parent;     /* number of the stack outside of it, counted from 1; 0: none */
} FirefoxStack;

typedef struct FirefoxStacks {
  const ReadProfile *r;
  const Fold *fold;
  FirefoxStack *list;  /* with labels */
  size_t n, size;
  IdMap byplace;       /* set and node -> number in the list */
  uint32_t *sets;      /* of labels, as the reading numbers them */
  size_t nsets, setsize;
} FirefoxStacks;

#define FIREFOXSTACKS_NONE	UINT64_MAX

/* The stacks of what is in the sites, by node and tag. 0 without memory; free it all the
   same. */
int firefoxstacks_init (FirefoxStacks *s, const ReadProfile *r, const Fold *fold,
                        const SiteTable *leaves, const SiteTable *ticks);
void firefoxstacks_free (FirefoxStacks *s);

/* The number, from 0 on, of the stack of a node below labels (0: none);
   FIREFOXSTACKS_NONE: of no frame. */
uint64_t firefoxstacks_of (const FirefoxStacks *s, uint32_t node, uint32_t labels);

/* How many there are before those of leaves. */
static inline size_t firefoxstacks_count (const FirefoxStacks *s) {
  return s->r->tree.n - 1 + s->n;
}

#endif
