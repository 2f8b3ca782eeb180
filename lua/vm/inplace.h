/* SPDX-License-Identifier: MIT */
/*
** Rehash in place. A full hash part that is to keep its size, because keys are inserted and
** removed (room.c), regains the nodes of removed keys without a new vector. The hash of a key is
** in its string, which is in no cache; here most keys are not read.
**
** A chain is a list of nodes; no node is in two. A chain may start before a key's main position:
** a key inserted at a main position whose old key was removed reuses that node, and the nodes
** linked after it stay linked. So an empty node may be the main position of later keys of the
** chain. It receives one of these, as luaH_newkey moves a key, and that key's node is unlinked
** instead; if there is none, the empty node itself is unlinked. Keys before all empty nodes stay
** at their addresses, and so do their remembered slots. A chain that has lost only its last node
** needs no hash.
**
** After that, an empty node with no successor is a chain of its own, and free. An empty node that
** is the first of a chain receives a key in the same way, or is unlinked if the chain has no key
** for it. In a large table this is done only if few nodes are empty, where too few would become
** free otherwise, because all keys after the node must be read.
**
** A chain of very many nodes (keys chosen to collide) is not processed: the hash part is rebuilt.
** So a rehash frees at least half of the empty nodes, and the insertions that follow pay for it.
** Between two chains every key can be found.
*/
#ifndef luaN_inplace_h
#define luaN_inplace_h

#include "lobject.h"

/* Rehashes t, whose hash part is full, in place if that keeps its 'hsize' nodes and the array part
   its 'asize' slots. Returns 1 if nodes are free then; 0 if t needs other vectors. */
LUAI_FUNC int luaN_rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize);

#endif
