/* SPDX-License-Identifier: MIT */
/*
** The call tree. A node represents a distinct stack: the node is its innermost frame, the node's
** ancestors are the callers.
**
**   TR1  a node's parent has a smaller index; node 0 is the root, without a frame;
**   TR2  no two nodes have the same parent, id and line;
**   TR3  at most TREE_MAXNODES nodes; frames that need further nodes are left out and counted.
*/
#ifndef asamp_tree_h
#define asamp_tree_h

#include "bounds.h"

#include <stdint.h>

typedef struct TreeNode {
  uint64_t id;       /* id of the frame (frameids.h) */
  uint32_t line;     /* line of the source that ran; 0: unknown */
  uint32_t parent;   /* index of the caller's node in Tree.nodes */
} TreeNode;

typedef struct Tree {
  TreeNode *nodes;
  uint32_t n;        /* number of nodes */
  uint32_t size;     /* capacity of 'nodes' */
  uint32_t *slots;   /* hash table: indexes of nodes; 0: free slot */
  uint32_t nslots;   /* number of elements of 'slots': a power of 2, at least 2 * n */
  uint64_t left;     /* number of frames left out, because there are TREE_MAXNODES nodes */
} Tree;

/* Initializes the tree with its root. Returns 0 if out of memory; call tree_free in either case. */
int tree_init (Tree *t);
void tree_free (Tree *t);

/* Returns the child of the node 'parent' with that id and line; creates the child if needed. If
   TREE_MAXNODES nodes exist already, returns 'parent' instead of a new child. Returns 0 if out of
   memory. */
uint32_t tree_child (Tree *t, uint32_t parent, uint64_t id, uint32_t line);

#endif
