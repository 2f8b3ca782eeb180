/* SPDX-License-Identifier: MIT */
/*
** Growth ahead: a large hash part that is nearly full gets its next vector of nodes, of twice
** the size, before it needs it, and the insertions that are left until then copy its keys there,
** some each. The hash of a key stands in a string that no cache has: to insert half a million
** keys at once stops a program for as long as all these misses take. What is left to do when the
** table grows is one pass over the old nodes, which fetches their values (lua/vm/growing.h).
**
** Until then the old vector is the table. Lookups, stores, traversals, the collector and what it
** clears know nothing of the next one, which has keys only, and no key there is followed: it may
** have died. In the place of a value it has a number, the key's main position and the old node
** that it came from. 'copyof' says for each old node that was gone through where its copy is. The
** few keys that come to such a node later are copied as they come (luaH_newkey). Those that a
** young table gets by the bytecode loop are found to be missing, or others, by their addresses:
** no object has another's address unless a collection was between, and what is young has seen
** none.
**
** There are few such vectors at a time, and one is dropped when its table dies or gets vectors of
** another size, by every full collection, and when a major collection begins and no key has
** come since the one before did. Its bytes are explicit memory (H6) from the beginning; the
** nursery is charged with them, and samples count them, when it becomes the table's. None is
** begun when lua_Alloc has refused something since the last major collection.
**
** A hash part that keys come to and go from, and that will have the size it has (room.c), has no
** such vector: it is rehashed in place (lua/vm/inplace.h).
**
** Where hardly any two keys have one main position, which some series of integers and of objects
** come near to, 'lastfree' stays where it is, and the table grows at once, as a small one does.
**
** Invariants (checked by luaN_verify):
**   GA1  the table of a growth is not dead, is of one growth only, and has the nodes for which
**        that has begun.
**   GA2  the first 'cleared' nodes of the next vector are nodes; keys are there when all are. A
**        value there is empty, its key nil, or dead and NULL; or it is a number.
**   GA3  of the first 'copied' old nodes each has its copy, which names it, or none; there are no
**        other copies.
*/
#ifndef luaN_growth_h
#define luaN_growth_h

#include "lobject.h"
#include "lstate.h"

#include "heap.h"

/* log2 of the nodes of the least hash part that grows ahead. Its next vector is large (H2). */
#if defined(LUAI_ASSERT)
#define LUAN_LEASTGROWTH	8
#else
#define LUAN_LEASTGROWTH	14
#endif

_Static_assert((sizeof(Node) << (LUAN_LEASTGROWTH + 1)) > LUAN_LARGE,
               "the next vector would lie in lines");

#define LUAN_NOCOPY	(~(uint32_t)0)	/* of copyof[] */

/* The value of a copy: the main position of its key, and the old node. */
#define luaN_setcopy(n,main,from) \
  setivalue(gval(n), (lua_Integer)(((lua_Unsigned)(main) << 32) | (from)))
#define luaN_mainof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) >> 32))
#define luaN_fromof(n)	((unsigned)(l_castS2U(ivalue(gval(n))) & 0xffffffffu))

/* That of t, or NULL. */
LUAI_FUNC luaN_Growth *luaN_growthof (global_State *g, const Table *t);

/* A growth of t begins, which has 'left' > 0 nodes that getfreepos has not looked at. None does
   where memory is short, or there are too many. */
LUAI_FUNC void luaN_begingrowth (global_State *g, Table *t, unsigned left);

/* The next vector becomes the table's: it counts as if it were allocated now. 0: it cannot,
   nothing has changed. */
LUAI_FUNC int luaN_adoptgrowth (lua_State *L, luaN_Growth *w);

/* Ends it: frees what no table has. */
LUAI_FUNC void luaN_endgrowth (global_State *g, luaN_Growth *w);

/* Drops all; those that no key has come to since the last major collection began; those of
   tables that a collection has just found dead. */
LUAI_FUNC void luaN_dropgrowths (global_State *g);
LUAI_FUNC void luaN_dropidle (global_State *g);
LUAI_FUNC void luaN_dropdead (global_State *g);

/* The first invariant that does not hold, and where, or NULL. */
LUAI_FUNC const char *luaN_checkgrowths (global_State *g, const void **where);

#endif
