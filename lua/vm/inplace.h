/* SPDX-License-Identifier: MIT */
/*
** The size of a hash part. Upstream takes the smallest power of 2 that holds the keys. If a program
** inserts and removes keys, as in a cache, and few nodes are free, the whole table is rehashed
** after every few new keys. To prevent this, a hash part whose keys still fit gets free nodes in
** proportion to all slots of the table, and the next rehash comes after a proportional number of
** insertions.
**
** Rehash in place: a full hash part regains the nodes of removed keys without a new vector. It is
** used if luaN_hashroom has chosen the present size again. The rehash avoids reading the hashes of
** keys: the hash of a string is stored in the string, so that reading it is usually a cache miss.
**
** A node is in one chain. An empty node may still be the main position of later keys of its chain.
** The rehash moves one of these keys to the node, or unlinks the node if there is none. An unlinked
** empty node is free. Keys before the first empty node of a chain stay in their nodes, so the slots
** of these keys in the remembered set stay valid.
**
** If the first node of a chain is empty, the hashes of all keys of the chain must be read. So in a
** large table such chains are processed only while few nodes are empty, or in a second pass if the
** first one has freed too few nodes.
**
** A rehash visits all nodes and frees at least half of the empty ones. luaN_hashroom chooses a size
** with enough empty nodes, so the cost for each insertion stays bounded. If a chain has very many
** nodes, because keys were chosen to collide, the rehash fails and the table is resized. The rehash
** processes one chain at a time; in between, lookups find every key.
*/
#pragma once

#include "lobject.h"

/* Returns the number of nodes that the hash part gets in a rehash: at least 'hashed', the number of
   its keys, and often more, so that the next rehash comes later. asize: size of the next array
   part. */
LUAI_FUNC unsigned luaN_hashroom (const Table *t, unsigned asize, unsigned hashed);

/* Frees nodes of removed keys in the full hash part of t, without a new vector, and returns 1.
   Returns 0 if 'hsize' (rounded up to a power of 2) is not the present size of the hash part, if
   'asize' is not that of the array part, or if a chain is too long; the caller must then resize
   t. */
LUAI_FUNC int luaN_rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize);
