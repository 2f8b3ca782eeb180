/* SPDX-License-Identifier: MIT */
/*
** Call tree: every distinct stack is one node, and its callers are the node's ancestors. Owns
** nothing else. Independent of names and of numbers of samples. Invariants:
**
**   TR1  a node's parent has a smaller index; node 0 is the root, which represents no frame;
**   TR2  no two nodes have the same (parent, id, line);
**   TR3  at most TREE_MAXNODES nodes: beyond the limit, new frames are left out and counted in
**        'left'.
*/
#ifndef asamp_tree_h
#define asamp_tree_h

#include "bounds.h"

#include <stdint.h>

typedef struct TreeNode {
  uint64_t id;       /* of the frame */
  uint32_t line;
  uint32_t parent;
} TreeNode;

typedef struct Tree {
  TreeNode *nodes;
  uint32_t n;        /* nodes in use */
  uint32_t size;     /* nodes allocated */
  uint32_t *slots;   /* hash table of the nodes: 0 is free, else an index */
  uint32_t nslots;   /* a power of 2, at least 2 * n */
  uint64_t left;     /* frames left out (TR3) */
} Tree;

/* Initializes the tree. Returns 0 if there is not enough memory. */
int tree_init (Tree *t);
void tree_free (Tree *t);

/*
** Returns the child of 'parent' for that frame, made if needed. Returns 'parent' if the tree is
** full (TR3), 0 (which is nobody's child) without memory.
*/
uint32_t tree_child (Tree *t, uint32_t parent, uint64_t id, uint32_t line);

#endif
