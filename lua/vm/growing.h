/* SPDX-License-Identifier: MIT */
/*
** Growth buffers (lua/gc/alloc/growth.h), the part that reads keys and nodes; ltable.c calls it.
**
** A growth may start when getfreepos has visited all but one LUAN_GROWTHPART-th of the nodes. It
** continues with each key that luaH_newkey inserts, in proportion to the remaining nodes that
** getfreepos has visited: during the first half of them the buffer is initialized, during the
** second half keys are copied to it. After the start only few more keys find a free node, about a
** ninetieth of the number of nodes, because most of the remaining nodes have been taken as main
** positions. So a table that keeps its size rarely has a buffer, and an insertion pays for about
** 200 copies, some microseconds.
*/
#ifndef luaN_growing_h
#define luaN_growing_h

#include "growth.h"

/* A hash part is nearly full when getfreepos has at most 1 / LUAN_GROWTHPART of its nodes left. */
#define LUAN_GROWTHPART	32

/* True if t has a large hash part that is nearly full: a growth may start or be in progress. */
#define luaN_isnearlyfull(t) \
  ((t)->lsizenode >= LUAN_LEASTGROWTH && \
   l_unlikely((t)->lastfree <= gnode(t, sizenode(t) / LUAN_GROWTHPART)))

/* luaN_keymoved is to be called after a key was moved from node 'from' of t to node 'to',
   luaN_keycame after node n of t received a new key and its value (luaH_newkey). */
#define luaN_keymoved(L,t,from,to) \
  (luaN_isnearlyfull(t) ? luaN_keymoved_(L, t, from, to) : cast_void(0))
#define luaN_keycame(L,t,n) \
  (luaN_isnearlyfull(t) ? luaN_keycame_(L, t, n) : cast_void(0))

/* The out-of-line parts of luaN_keymoved and luaN_keycame. */
LUAI_FUNC void luaN_keymoved_ (lua_State *L, const Table *t, const Node *from, const Node *to);
LUAI_FUNC void luaN_keycame_ (lua_State *L, Table *t, const Node *n);

/* Makes the growth buffer of t the hash part of t, which is full, and returns 1. Returns 0, and t
   has not changed, if t has no buffer of 'hsize' nodes (rounded up to a power of 2), if 'asize' is
   not the size of the array part, or if too many keys lack a copy or memory is short. */
LUAI_FUNC int luaN_grownow (lua_State *L, Table *t, unsigned asize, unsigned hsize);

/* Returns the main position of the key of node n of t (ltable.c). */
LUAI_FUNC Node *mainpositionfromnode (const Table *t, Node *n);

#endif
