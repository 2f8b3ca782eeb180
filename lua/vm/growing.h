/* SPDX-License-Identifier: MIT */
/*
** Growth buffers, the part that reads keys and nodes; ltable.c calls it. A growth buffer is the
** next, larger vector of nodes of a hash part that is nearly full. Keys are copied to it in advance
** (a growth), so that the insertion that fills the hash part takes less time
** (lua/gc/alloc/growth.h).
**
** getfreepos (ltable.c) visits the nodes of a hash part from the last to the first to find free
** ones; when it has visited all, the table is resized. A growth may start when only one
** LUAN_GROWTHPART-th of the nodes is left to visit. It continues with each key that luaH_newkey
** inserts, in proportion to the visits of getfreepos: while getfreepos visits the first half of the
** remaining nodes, the buffer is initialized; during the second half, keys are copied to it.
**
** After the start of a growth only few more keys find a free node, about a ninetieth of the number
** of nodes, because most of the nodes that getfreepos has not visited yet are in use: keys are
** stored at their main positions without getfreepos. So a table that keeps its size rarely has a
** buffer, and each insertion copies about 200 keys, which takes some microseconds.
*/
#ifndef luaN_growing_h
#define luaN_growing_h

#include "growth.h"

/* A hash part is nearly full when at most one LUAN_GROWTHPART-th of its nodes is left for
   getfreepos, which searches for a free node, to visit. */
#define LUAN_GROWTHPART	32

/* True if t has a large hash part that is nearly full, so that t may have a growth buffer, or get
   one. */
#define luaN_isnearlyfull(t) \
  ((t)->lsizenode >= LUAN_LEASTGROWTH && \
   l_unlikely((t)->lastfree <= gnode(t, sizenode(t) / LUAN_GROWTHPART)))

/* luaN_keymoved must be called after a key was moved from node 'from' of t to node 'to'.
   luaN_keycame must be called after node n of t has received a new key and its value
   (luaH_newkey). */
#define luaN_keymoved(L,t,from,to) \
  (luaN_isnearlyfull(t) ? luaN_keymoved_(L, t, from, to) : cast_void(0))
#define luaN_keycame(L,t,n) \
  (luaN_isnearlyfull(t) ? luaN_keycame_(L, t, n) : cast_void(0))

/* The out-of-line parts of luaN_keymoved and luaN_keycame. */
LUAI_FUNC void luaN_keymoved_ (lua_State *L, const Table *t, const Node *from, const Node *to);
LUAI_FUNC void luaN_keycame_ (lua_State *L, Table *t, const Node *n);

/*
** Replaces the full hash part of t by the growth buffer of t and returns 1. Returns 0, and
** leaves t as it is, if
**   - t has no growth buffer of 'hsize' nodes (rounded up to a power of 2)
**   - 'asize' is not the size of the array part
**   - too many keys were not copied to the buffer in advance
**   - memory is short
*/
LUAI_FUNC int luaN_grownow (lua_State *L, Table *t, unsigned asize, unsigned hsize);

/* Returns the main position of the key of node n of t (ltable.c). */
LUAI_FUNC Node *mainpositionfromnode (const Table *t, Node *n);

#endif
