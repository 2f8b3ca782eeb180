/* SPDX-License-Identifier: MIT */
/*
** Rehash in place: a full hash part regains the nodes of removed keys without a new vector. It is
** used for a hash part that is to keep its size, because keys are inserted and removed (room.c).
** The hash of a key is in its string, and reading the string is usually a cache miss; the rehash in
** place reads few strings.
**
** A chain is a list of nodes, and no node is in two chains. A chain may start before a key's main
** position: a key that is inserted at a main position whose old key was removed reuses that node,
** and the nodes linked after the node stay linked. So an empty node may be the main position of
** later keys of the chain. The rehash moves one of these keys to the empty node, as luaH_newkey
** moves a key, and unlinks the key's former node. If there is no such key, the rehash unlinks the
** empty node itself. An unlinked empty node is a chain of its own, and free.
**
** Keys before the first empty node of a chain stay in their nodes, so that entries of the
** remembered set for the slots of these nodes stay right. If only the last node of a chain is
** empty, no hash is read.
**
** If the first node of a chain is empty and other nodes follow, it receives a key in the same way,
** or is unlinked if it is the main position of no key. That is expensive, because the hashes of all
** keys of the chain must be read. So in a large table, such chains are processed only while few
** nodes are empty, or in a second pass if the first one has freed too few nodes.
**
** A rehash frees at least half of the empty nodes. The next one follows only when insertions have
** used these nodes, so the cost is spread over these insertions. If a chain has very many nodes,
** because keys were chosen to collide, the rehash stops and the table is resized. Between the
** processing of two chains, every key can be found.
*/
#ifndef luaN_inplace_h
#define luaN_inplace_h

#include "lobject.h"

/* Frees nodes of removed keys in the full hash part of t, without a new vector, and returns 1.
   Returns 0 if 'hsize' (rounded up to a power of 2) or 'asize' is not the present size of its
   part, or if a chain is too long; the caller must resize t then. */
LUAI_FUNC int luaN_rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize);

#endif
