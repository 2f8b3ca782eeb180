/* SPDX-License-Identifier: MIT */
/*
** Growth buffers spread the growth of large hash parts over many insertions. A large hash part
** that is nearly full gets its next vector of nodes, of twice the size, in advance, and insertions
** until the old vector is full copy keys to the new one. The hash of a string key is in the string,
** which is in no cache: if half a million keys were inserted at once, the program would stop for as
** long as all the cache misses take. When the table grows, one pass over the old nodes fetches
** their values (lua/vm/growing.h).
**
** Until the table grows, its vector is the old one. Lookups, stores, traversals and the collector
** do not use the buffer. References of its keys are never followed, because the keys may have died.
** In place of a value each key has a number: its main position and the index of the old node.
** 'copyof' has, for each of the first 'copied' old nodes, the index of its copy or LUAN_NOCOPY.
** Keys that luaH_newkey inserts into these nodes later are copied at once. Keys that the bytecode
** loop inserts into a young table are detected by comparing addresses: an address is reused only
** after a collection, and a young table has lived through none.
**
** A state has few growth buffers at a time. A buffer is dropped by every full collection; when its
** table dies or gets other vectors; when a key cannot be copied; and at the start of a major
** collection if no key was inserted since the start of the previous one. The bytes of a buffer are
** explicit memory (H6). The nursery is charged with them, and samples count them, when the buffer
** becomes the table's vector. No growth starts while blocks.ceiling is set, because lua_Alloc
** has refused memory, or while the state has limits (allowance.h).
**
** A hash part whose keys are inserted and removed, and that will keep its size (room.c), gets no
** buffer: it is rehashed in place (lua/vm/inplace.h).
**
** If hardly any two keys have the same main position, as for some series of integers and objects,
** 'lastfree' does not move, and the table grows at once, as a small one does.
**
** Invariants (checked by luaN_verify):
**   GA1  The table of a growth is not dead, has only this growth, and has the nodes with which
**        the growth started.
**   GA2  The first 'cleared' nodes of the buffer are initialized; the buffer has keys only if all
**        its nodes are initialized. The value of an initialized node is empty, and its key is nil,
**        or dead and NULL; or the value is an integer (luaN_setcopy).
**   GA3  Each of the first 'copied' old nodes has one copy, which refers back to the node, or none.
**        There are no other copies.
*/
#ifndef luaN_growth_h
#define luaN_growth_h

#include "lobject.h"
#include "lstate.h"

#include "heap.h"

/* log2 of the nodes of the smallest hash part that gets a buffer. A buffer is always a block of
   lua_Alloc (H2). Smaller parts are rehashed in a short pause. */
#if defined(LUAI_ASSERT)
#define LUAN_LEASTGROWTH	8
#else
#define LUAN_LEASTGROWTH	14
#endif

_Static_assert((sizeof(Node) << (LUAN_LEASTGROWTH + 1)) > LUAN_LARGE,
               "the next vector would lie in lines");

#define LUAN_NOCOPY	(~(uint32_t)0)	/* in copyof[]: the node has no copy */

/* The value of copy n: the main position of its key, and the index of the old node. */
#define luaN_setcopy(n,main,from) \
  setivalue(gval(n), (lua_Integer)(((lua_Unsigned)(main) << 32) | (from)))
#define luaN_mainof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) >> 32))
#define luaN_fromof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) & 0xffffffffu))

/* Returns the growth of table t that is in progress, or NULL. */
LUAI_FUNC luaN_Growth *luaN_growthof (global_State *g, const Table *t);

/* Starts a growth of t, which has 'left' > 0 nodes that getfreepos has not visited yet. Does
   nothing if memory is short, or if the state has MAX_GROWTHS growths or limits (allowance.h). */
LUAI_FUNC void luaN_begingrowth (global_State *g, Table *t, unsigned left);

/* Takes the buffer out of w, for the caller to make it the table's hash part, and counts it as if
   it were allocated now. Returns 0 and changes nothing if there is no memory or a limit of the
   state would be exceeded. */
LUAI_FUNC int luaN_adoptgrowth (lua_State *L, luaN_Growth *w);

/* Ends a growth and frees its memory, except a buffer that luaN_adoptgrowth has taken out. */
LUAI_FUNC void luaN_endgrowth (global_State *g, luaN_Growth *w);

/* Ends all growths. */
LUAI_FUNC void luaN_dropgrowths (global_State *g);
/* Ends the growths that started, and received their last key, before the previous call. To be
   called when a major collection starts. */
LUAI_FUNC void luaN_dropidle (global_State *g);
/* Ends the growths of the tables that the running collection has not marked. To be called when all
   marks are final. */
LUAI_FUNC void luaN_dropdead (global_State *g);

/* Checks GA1 to GA3. Returns the violated invariant, with *where set to the table or node; NULL if
   all hold. */
LUAI_FUNC const char *luaN_checkgrowths (global_State *g, const void **where);

#endif
