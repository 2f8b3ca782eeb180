/* SPDX-License-Identifier: MIT */
/*
** Growth buffers: the functions that ltable.c calls. (lua/gc/alloc/growth.h allocates and frees the
** buffers.) A growth buffer is the next, larger vector of nodes of a nearly full hash part, to
** which keys are copied in advance.
**
** getfreepos (ltable.c) searches for free nodes from the last node to the first. When it has
** reached the first node, the table is resized. A buffer may be allocated when 1 / LUAN_GROWTHPART
** of the nodes are left to visit. From then on, each insertion by luaH_newkey does a part of the
** work, in proportion to the nodes that getfreepos has visited: during the first half of these
** visits the buffer is initialized, during the second half keys are copied.
**
** The buffer is not allocated earlier, so that a table that keeps its size rarely has one. But few
** insertions are then left before the resize. 1 in 32 nodes is left to visit (LUAN_GROWTHPART), and
** about a third of these is free: one insertion for about 90 nodes of the hash part. Only the
** second half of these insertions copies keys. So one of them may copy about 200 keys, which takes
** some microseconds.
*/
#pragma once

#include "growth.h"

/* A hash part is nearly full when getfreepos, the search for a free node, has at most
   1 / LUAN_GROWTHPART of its nodes left to visit. */
#define LUAN_GROWTHPART	32

/* True if t has a large, nearly full hash part, so that keys may be copied to a larger one in
   advance. */
#define luaN_isnearlyfull(t) \
  ((t)->lsizenode >= LUAN_LEASTGROWTH && \
   l_unlikely((t)->lastfree <= gnode(t, sizenode(t) / LUAN_GROWTHPART)))

/* To be called after a key was moved from node 'from' of t to node 'to'. If keys of t are being
   copied to a larger hash part, updates the copy of this key. */
#define luaN_keymoved(L,t,from,to) \
  (luaN_isnearlyfull(t) ? luaN_keymoved_(L, t, from, to) : cast_void(0))

/* To be called after node n of t has received a new key and its value. If t is nearly full, starts
   or continues to copy its keys to a larger hash part. */
#define luaN_keycame(L,t,n) \
  (luaN_isnearlyfull(t) ? luaN_keycame_(L, t, n) : cast_void(0))

/* Does the work of the macro luaN_keymoved for a nearly full t: updates the copy of a moved key. To
   be called only by the macro. */
LUAI_FUNC void luaN_keymoved_ (lua_State *L, const Table *t, const Node *from, const Node *to);
/* Does the work of the macro luaN_keycame for a nearly full t: starts or continues to copy keys to
   a larger hash part. To be called only by the macro. */
LUAI_FUNC void luaN_keycame_ (lua_State *L, Table *t, const Node *n);

/*
** Puts into use the larger hash part to which keys of t were copied in advance, and returns 1.
** Returns 0, with t unchanged,
** - if t has no such hash part of 'hsize' nodes (rounded up to a power of 2)
** - if more than 5/8 of the nodes of that hash part would be in use
** - if 'asize' is not the size of the array part
** - if memory is short
*/
LUAI_FUNC int luaN_grownow (lua_State *L, Table *t, unsigned asize, unsigned hsize);

/* Returns the main position of the key of node n of t. */
LUAI_FUNC Node *mainpositionfromnode (const Table *t, Node *n);
