/* SPDX-License-Identifier: MIT */
/*
** The call tree of a profile: every distinct stack has one node, which represents the stack's
** innermost frame. The node's ancestors represent the callers. Independent of names and of numbers
** of samples. Invariants:
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
  uint64_t id;       /* id of the frame (frameids.h) */
  uint32_t line;     /* line that ran; 0: unknown */
  uint32_t parent;   /* index of the caller's node */
} TreeNode;

typedef struct Tree {
  TreeNode *nodes;
  uint32_t n;        /* number of nodes */
  uint32_t size;     /* capacity of 'nodes' */
  uint32_t *slots;   /* hash table: the index of a node, or 0 for a free slot */
  uint32_t nslots;   /* number of slots: a power of 2, at least 2 * n */
  uint64_t left;     /* number of times that a frame was left out because there are TREE_MAXNODES
                        nodes (TR3) */
} Tree;

/*
** Initializes the tree with its root. Returns 0 if there is not enough memory; tree_free must be
** called in either case.
*/
int tree_init (Tree *t);
void tree_free (Tree *t);

/*
** Returns the child of 'parent' with that id and line, and creates the child if needed. Returns
** 'parent' if there are TREE_MAXNODES nodes (TR3). Returns 0, which is not a child of any node, if
** there is not enough memory.
*/
uint32_t tree_child (Tree *t, uint32_t parent, uint64_t id, uint32_t line);

#endif
