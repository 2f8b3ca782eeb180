/* SPDX-License-Identifier: MIT */
/*
** Rehash in place. A full hash part that is to keep its size, because keys are inserted and
** removed (room.c), regains the nodes of removed keys without a new vector. The hash of a key is
** in its string, and reading the string is usually a cache miss; the rehash in place reads few.
**
** A chain is a list of nodes; no node is in two chains. A chain may start before a key's main
** position: a key inserted at a main position whose old key was removed reuses that node, and the
** nodes linked after the node stay linked. So an empty node may be the main position of later keys
** of the chain. The rehash moves one of these keys to the empty node, as luaH_newkey moves a key,
** and unlinks the key's former node. If there is no such key, the empty node itself is unlinked.
** Keys before the first empty node of a chain stay at their addresses, and so do their remembered
** slots. For a chain of which only the last node is empty, no hash is read.
**
** An empty node that was unlinked is a chain of its own, and free. An empty node that is the first
** of a longer chain receives a key in the same way, or is unlinked if it is the main position of no
** key; the hashes of all keys after the node must be read first. So a large table's chains with an
** empty first node are processed only while few nodes are empty, or in a second pass if the first
** one has freed too few nodes.
**
** A rehash frees at least half of the empty nodes, and the insertions that follow pay for it. If a
** chain has very many nodes (keys chosen to collide), the rehash stops and the table is resized.
** Every key can be found at any time between the processing of two chains.
*/
#ifndef luaN_inplace_h
#define luaN_inplace_h

#include "lobject.h"

/* Rehashes t, whose hash part is full, in place if 'hsize' (rounded up to a power of 2) and 'asize'
   are the present sizes of its parts. Returns 1 if that has freed nodes. Returns 0, and t must be
   resized, if a size differs or a chain is too long. */
LUAI_FUNC int luaN_rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize);

#endif
