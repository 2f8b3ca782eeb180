/* SPDX-License-Identifier: MIT */
/*
** Growth buffers (lua/gc/alloc/growth.h), the part that reads keys and nodes; ltable.c calls it.
**
** A growth starts when getfreepos has visited all but one LUAN_GROWTHPART-th of the nodes. It
** continues with each inserted key, in proportion to the distance by which 'lastfree' has moved
** since the start: during the first half of that distance the buffer is initialized, page by page;
** during the second half keys are copied to it. After the start only few more keys find a free
** node, about a ninetieth of the number of nodes, because most of the remaining nodes have been
** taken as main positions. So a table that keeps its size rarely has a buffer, and an insertion
** pays for about 200 copies, some microseconds.
*/
#ifndef luaN_growing_h
#define luaN_growing_h

#include "growth.h"

/* A hash part is nearly full when 1 / LUAN_GROWTHPART of its nodes is left. */
#define LUAN_GROWTHPART	32

/* True if getfreepos has visited enough nodes of 't' that a growth may be in progress. */
#define luaN_isnearlyfull(t) \
  ((t)->lsizenode >= LUAN_LEASTGROWTH && \
   l_unlikely((t)->lastfree <= gnode(t, sizenode(t) / LUAN_GROWTHPART)))

#define luaN_keymoved(L,t,from,to) \
  (luaN_isnearlyfull(t) ? luaN_keymoved_(L, t, from, to) : cast_void(0))
#define luaN_keycame(L,t,n) \
  (luaN_isnearlyfull(t) ? luaN_keycame_(L, t, n) : cast_void(0))

/* The out-of-line parts of luaN_keymoved and luaN_keycame. */
LUAI_FUNC void luaN_keymoved_ (lua_State *L, const Table *t, const Node *from, const Node *to);
LUAI_FUNC void luaN_keycame_ (lua_State *L, Table *t, const Node *n);

/* Makes the growth buffer of t, whose hash part is full, the hash part, if t has a buffer with
   capacity for 'hsize' nodes and the array part keeps its 'asize' slots. Returns 1 if it did; 0 if
   t has not changed. */
LUAI_FUNC int luaN_grownow (lua_State *L, Table *t, unsigned asize, unsigned hsize);

/* Returns the main position of the key of node n of t (ltable.c). */
LUAI_FUNC Node *mainpositionfromnode (const Table *t, Node *n);

#endif
