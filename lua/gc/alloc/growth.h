/* SPDX-License-Identifier: MIT */
/*
** Growth buffers spread the growth of large hash parts over many insertions. Moving half a million
** keys at once would be a long pause, because each string's hash must be read from memory. So when
** a large hash part is nearly full, its next vector, of twice the size, is allocated in advance:
** the growth buffer. The nodes of the present vector are the old nodes. Each insertion copies the
** keys of some old nodes to the buffer. When the table grows, one pass over the old nodes gives the
** copies their values (lua/vm/growing.h).
**
** Before the table grows, the growth buffer is not part of the table: lookups, traversals and the
** collector do not use it, and the objects of its keys, which may be dead, are not read. In place
** of a value, a copied key has its main position and the index of its old node. The array 'copyof'
** has, for each of the first 'copied' old nodes, the index of the copy in the buffer, or
** LUAN_NOCOPY.
**
** An old node may get another key after its key was copied: if the value of the node is removed,
** the bytecode loop may store a new key there. The loop does so only in young tables (allocated
** since the last collection), and does not copy the new key. So when the table grows, the key of
** each old node is compared with its copy. Comparing addresses suffices: in the life of a young
** table no collection has run, so no address was reused.
**
** A buffer that has not become the table's vector yet is freed
** - by a full collection
** - when its table dies, or has other vectors after a resize without the buffer
** - when a key cannot be copied because the buffer has no free node
** - at the start of a major collection, if the table received no key since the start of the
**   previous one
**
** A buffer comes from lua_Alloc and is freed by an explicit call, not by a sweep (explicit memory,
** H6). Samples and the pacer count its bytes when it becomes the table's vector. A table gets no
** buffer
** - if the state has limits (limit.h)
** - if lua_Alloc has refused memory (blocks.ceiling)
** - if another table has one: a state has at most one buffer
** - if its hash part will keep its size, and so is rehashed in place (lua/vm/inplace.h)
** - if hardly any keys collide: keys are copied while the search for free nodes proceeds
**   ('lastfree'), and without collisions there is no search before the table is full
**
** Invariants (checked by verify.c):
**   GA1  The table that has a growth buffer is not dead, and its hash part is still the vector for
**        which the buffer was allocated.
**   GA2  The first 'cleared' nodes of the buffer are initialized. The buffer has copies only if all
**        its nodes are initialized. The value of a copy is an integer (luaN_setcopy). The value of
**        any other initialized node is empty; its key is nil, or a dead key with the address NULL.
**   GA3  Each of the first 'copied' old nodes has at most one copy, whose value has the index of
**        the node. There are no other copies.
*/
#pragma once

#include "lobject.h"
#include "lstate.h"

#include "heap.h"

/* log2 of the number of nodes of the smallest hash part that gets a growth buffer (its next, larger
   hash part, allocated in advance). With a higher value, growing tables cause longer pauses; with a
   lower one, tables whose rehash is short anyway cost more time. The buffer comes from lua_Alloc,
   so it must have more than LUAN_LARGE bytes (H2). */
#if defined(LUAI_ASSERT)
#define LUAN_LEASTGROWTH	8
#else
#define LUAN_LEASTGROWTH	14
#endif

_Static_assert((sizeof(Node) << (LUAN_LEASTGROWTH + 1)) > LUAN_LARGE,
               "the next vector would not be a large object");

/* value in the array 'copyof' (luaN_Growth) for an old node whose key has no copy in the growth
   buffer */
#define LUAN_NOCOPY	(~(uint32_t)0)

/* The value of node n, a copied key in a growth buffer (next hash part), is an integer: the key's
   main position in the buffer (upper 32 bits), and the index of the key's node in the present hash
   part (lower 32 bits). */
#define luaN_setcopy(n,main,from) \
  setivalue(gval(n), (lua_Integer)(((lua_Unsigned)(main) << 32) | (from)))
#define luaN_mainof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) >> 32))
#define luaN_fromof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) & 0xffffffffu))

/* Returns the description of the growth buffer of t (its next, larger hash part, allocated in
   advance); NULL if t has none. */
LUAI_FUNC luaN_Growth *luaN_growthof (global_State *g, const Table *t);

/* Allocates the growth buffer of t (its next, larger hash part), if memory and limits permit it.
   left: number of nodes of t, at least 1, that getfreepos, the search for a free node, has not
   visited yet. */
LUAI_FUNC void luaN_begingrowth (global_State *g, Table *t, unsigned left);

/* To be called before a table is resized to its growth buffer w->node, the larger hash part that
   was allocated in advance. If memory and limits permit it, counts the buffer's bytes as if they
   were allocated now, sets w->node to NULL, and returns 1. Otherwise returns 0 and changes
   nothing. */
LUAI_FUNC int luaN_adoptgrowth (lua_State *L, luaN_Growth *w);

/* Frees the growth buffer (the next, larger hash part of a table) and its array 'copyof', if there
   are any. After luaN_adoptgrowth the buffer belongs to the table: then frees only the array. */
LUAI_FUNC void luaN_endgrowth (global_State *g);

/* Frees the growth buffer (next hash part of a table) if its table received no key since the
   previous call of this function. To be called when a major collection starts. */
LUAI_FUNC void luaN_dropidle (global_State *g);

/* Frees the growth buffer if this collection has found its table dead (has not marked it). To be
   called when all marks are final. */
LUAI_FUNC void luaN_dropdead (global_State *g);

/* Checks the invariants GA1 to GA3. Returns the name of the violated one, and sets *where to the
   table or node that violates it; returns NULL if all hold. */
LUAI_FUNC const char *luaN_checkgrowth (const global_State *g, const void **where);
