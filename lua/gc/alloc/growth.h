/* SPDX-License-Identifier: MIT */
/*
** Growth buffers spread the growth of large hash parts over many insertions. A large hash part
** that is nearly full gets its next vector of nodes, of twice the size, in advance, and each
** insertion until the old one is full copies some keys to that vector. The hash of a key is in its
** string, which is in no cache: if half a million keys were inserted at once, the program would
** stop for as long as all the cache misses take. When the table grows, one pass over the old nodes
** fetches their values (lua/vm/growing.h).
**
** Until the table grows, its vector is the old one. Lookups, stores, traversals and the collector
** do not use the buffer. References of its keys are never followed, because the keys may have died.
** In place of a value each key has a number: its main position and the index of the old node.
** 'copyof' has, for each old node that was gone through, the index of its copy. Keys that are
** inserted into such a node later are copied at once (luaH_newkey). Keys that the bytecode loop
** inserts into a young table are detected by comparing addresses: an address is reused only after
** a collection, and a young table has lived through none.
**
** A state has few growth buffers at a time. A buffer is dropped by every full collection; when its
** table dies or gets vectors of another size; and at the start of a major collection if no key was
** inserted since the start of the previous one. The bytes of a buffer are explicit memory (H6). The
** nursery is charged with them, and samples count them, when the buffer becomes the table's vector.
** No growth starts if lua_Alloc has refused memory since the last major collection.
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
**        its nodes are. The value of each of them is empty, and the key is nil, or dead and NULL;
**        or the value is a number.
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

/* The value of a copy: the main position of its key, and the index of the old node. */
#define luaN_setcopy(n,main,from) \
  setivalue(gval(n), (lua_Integer)(((lua_Unsigned)(main) << 32) | (from)))
#define luaN_mainof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) >> 32))
#define luaN_fromof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) & 0xffffffffu))

/* Returns the growth of table t that is in progress, or NULL. */
LUAI_FUNC luaN_Growth *luaN_growthof (global_State *g, const Table *t);

/* Starts a growth of t, which has 'left' > 0 nodes that getfreepos has not visited yet. Does
   nothing if memory is short, if the state has too many growths, or if the state has limits
   (allowance.h). */
LUAI_FUNC void luaN_begingrowth (global_State *g, Table *t, unsigned left);

/* Takes the buffer out of w, for the caller to make it the table's hash part, and counts it as if
   it were allocated now. Returns 0 and changes nothing if there is no memory or a limit of the
   state would be exceeded. */
LUAI_FUNC int luaN_adoptgrowth (lua_State *L, luaN_Growth *w);

/* Ends a growth and frees its memory, except a buffer that luaN_adoptgrowth has taken out. */
LUAI_FUNC void luaN_endgrowth (global_State *g, luaN_Growth *w);

/* Frees all growth buffers. */
LUAI_FUNC void luaN_dropgrowths (global_State *g);
/* Frees the growth buffers that received no key since the last major collection started. */
LUAI_FUNC void luaN_dropidle (global_State *g);
/* Frees the growth buffers of the tables that the running collection has not marked. To be called
   when all marks are final. */
LUAI_FUNC void luaN_dropdead (global_State *g);

/* Checks GA1 to GA3. Returns the violated invariant and sets *where, or returns NULL. */
LUAI_FUNC const char *luaN_checkgrowths (global_State *g, const void **where);

#endif
