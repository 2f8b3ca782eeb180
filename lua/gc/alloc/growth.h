/* SPDX-License-Identifier: MIT */
/*
** Growth buffers spread the growth of large hash parts over many insertions. If half a million keys
** were moved to a larger vector at once, the program would stop for a long time, because the hash
** of a string key is in the string, and reading it is usually a cache miss. So a large hash part
** that is nearly full gets its next vector of nodes, of twice the size, in advance: the growth
** buffer. The insertions until the old vector is full copy keys to the buffer. When the table
** grows, one pass over the old nodes gives the copies their values (lua/vm/growing.h).
**
** Until the table grows, its vector is the old one: lookups, stores, traversals and the collector
** do not use the growth buffer. The objects to which copied keys refer are never read, because they
** may have been freed. A copied key has a number in place of its value: its main position and the
** index of its old node. 'copyof' has the index of the copy of each of the first 'copied' old
** nodes, or LUAN_NOCOPY.
**
** An old node whose key was copied may receive another key. If luaH_newkey inserts it, the key is
** copied at once. The bytecode loop inserts keys into young tables without copying them; so when
** the table grows, the key of each old node is compared with that of its copy. A comparison of
** addresses is enough: an address is reused only after a collection, and no collection has run
** since a young table was allocated.
**
** A state has at most MAX_GROWTHS growth buffers at a time. A buffer is freed before the table
** grows
**   - by every full collection
**   - when its table dies or gets other vectors
**   - when a key cannot be copied because no node of the buffer is free
**   - when a major collection starts, if no key was inserted since the previous one started
**
** A buffer is explicit memory, which the core frees explicitly (H6). Its bytes count as allocated,
** for samples and for the start of the next minor collection, only when the buffer becomes the
** table's vector. A table gets no buffer while the state has limits (allowance.h), or while
** blocks.ceiling is set because lua_Alloc has refused memory.
**
** Two kinds of tables have no growth buffer:
**   - A hash part that will keep its size, because keys are inserted and removed (room.c), is
**     rehashed in place (lua/vm/inplace.h).
**   - If hardly any two keys have the same main position, as for some series of integers,
**     'lastfree' does not move, and nothing shows that the table is nearly full. It grows at once,
**     as a small table does.
**
** Invariants (checked by luaN_verify):
**   GA1  The table of a growth is not dead, has only this growth, and has the nodes with which the
**        growth started.
**   GA2  The first 'cleared' nodes of the buffer are initialized. The buffer has copies only if all
**        its nodes are initialized. The value of a copy is an integer (luaN_setcopy). The value of
**        any other initialized node is empty, and its key is nil, or dead and NULL.
**   GA3  Each of the first 'copied' old nodes has at most one copy, whose value has the index of
**        the node. There are no other copies.
*/
#ifndef luaN_growth_h
#define luaN_growth_h

#include "lobject.h"
#include "lstate.h"

#include "heap.h"

/* log2 of the number of nodes of the smallest hash part that gets a growth buffer. Smaller parts
   need none, because they are rehashed in a short pause. The buffer must be larger than LUAN_LARGE,
   so that it may come from lua_Alloc (H2). */
#if defined(LUAI_ASSERT)
#define LUAN_LEASTGROWTH	8
#else
#define LUAN_LEASTGROWTH	14
#endif

_Static_assert((sizeof(Node) << (LUAN_LEASTGROWTH + 1)) > LUAN_LARGE,
               "the next vector would lie in lines");

/* Value of copyof[] for a node whose key has no copy in the table's growth buffer (next hash
   part). */
#define LUAN_NOCOPY	(~(uint32_t)0)

/* The value of n, a node of a growth buffer with a copied key: an integer whose upper 32 bits are
   the main position of the key in the buffer (luaN_mainof), and whose lower 32 bits are the index
   of the old node (luaN_fromof). */
#define luaN_setcopy(n,main,from) \
  setivalue(gval(n), (lua_Integer)(((lua_Unsigned)(main) << 32) | (from)))
#define luaN_mainof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) >> 32))
#define luaN_fromof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) & 0xffffffffu))

/* Returns the description of the growth buffer of table t (its next vector of nodes, see the
   head), or NULL if t has none. */
LUAI_FUNC luaN_Growth *luaN_growthof (global_State *g, const Table *t);

/* Allocates a growth buffer for t, the next vector of nodes of its hash part. 'left' > 0 is the
   number of nodes of t that getfreepos, the search for a free node, has not visited yet. Does
   nothing if memory is short, if the state has MAX_GROWTHS buffers already, or if the state has
   limits (allowance.h). */
LUAI_FUNC void luaN_begingrowth (global_State *g, Table *t, unsigned left);

/* Makes the buffer of w ready to become the hash part of its table: counts the buffer as if it
   were allocated now, sets w->node to NULL, and returns 1. Returns 0 and changes nothing if
   there is no memory or a limit of the state would be exceeded. */
LUAI_FUNC int luaN_adoptgrowth (lua_State *L, luaN_Growth *w);

/* Frees w and its growth buffer. If luaN_adoptgrowth has been called for w, the buffer belongs
   to the table and is not freed. */
LUAI_FUNC void luaN_endgrowth (global_State *g, luaN_Growth *w);

/* Frees all growth buffers. */
LUAI_FUNC void luaN_dropgrowths (global_State *g);

/* Frees the growth buffers of tables into which no key was inserted since the previous call, except
   buffers that were allocated since then. To be called when a major collection starts. */
LUAI_FUNC void luaN_dropidle (global_State *g);

/* Frees the growth buffers of the tables that the running collection has not marked. To be called
   when all marks are final. */
LUAI_FUNC void luaN_dropdead (global_State *g);

/* Checks GA1 to GA3. Returns the violated invariant, with *where set to the table or node; NULL if
   all hold. */
LUAI_FUNC const char *luaN_checkgrowths (global_State *g, const void **where);

#endif
