/* SPDX-License-Identifier: MIT */
/*
** Ageing: minor collections leave some live objects young, because these often die soon, and only a
** major collection could free them once they are old. An example is a string that is edited
** repeatedly. All other live objects are tenured (made old) by the first collection that they
** survive: that costs less than visiting them twice.
**
** An ageing object is
** - a long string or userdata of more than LUAN_LARGETEXT bytes: left young by at most two minor
**   collections
** - a smaller userdata with a finalizer: left young by at most one minor collection
**
** An ageing userdata must also own no external bytes (memory or resources outside the heap), have
** at most one user value, and refer to no unmarked object except its metatable.
**
** A minor collection that reaches an ageing object sets the object's bit LUAN_MET. Before the
** collection ends, it clears the bit and raises the survivor age: the number of collections that
** have left the object young (luaN_age).
**
** The holder, the object that refers to the ageing object, is remembered, so that the next minor
** collection reaches the ageing object again (G1). If the holder is a table that has had a large
** array or hash part, only the slot is remembered. If the holder is a thread, its frames are
** scanned again.
**
** An ageing object is tenured at once
** - if a second visit of the holder costs too much: the holder is a huge table (LUAN_VAST), a table
**   with a large array or hash part that is traversed as a whole, a slot of a weak table, or a list
**   of the collector
** - if there are too many holders
** - while a major collection runs or starts, because a major collection needs a heap without young
**   objects
**
** If the holder is old and dies, the ageing object stays alive until the next major collection,
** because a minor collection treats all old objects as alive.
**
** Small ageing userdata that were left young are in the list finalize.aged until the next minor
** collection. Their lines (64 bytes of memory each) have the mark LUAN_HELD, so that they are not
** allocated again. Large ageing objects are in lists.large.
*/
#pragma once

#include "lgc.h"

#include "leaf.h"

/* Number of minor collections that may leave a long string or large userdata young; the next one
   tenures it (makes it old). With a higher number, minor collections free more of these objects,
   and visit live ones more often. */
#define LUAN_MOSTAGE	2u

/* Permits (on = 1) or forbids (on = 0) the running minor collection to leave objects young instead
   of tenuring them (making them old). Must be set to 0 when the collection ends. */
#define luaN_beginageing(c,on)	((c)->mark.ageing = (lu_byte)(on))

/* To be used before the references of o are traversed. If the running minor collection may leave
   objects young, sets mark.holder to o, so that o is recorded if it refers to an object that is
   left young. Otherwise sets mark.holder to NULL. */
#define luaN_agein(c,o) \
  ((c)->mark.holder = (c)->mark.ageing ? (o) : NULL)

/* True if the object o, which is being traversed, was recorded in m->holders: it refers to an
   object that the collection leaves young. In this case o is the last entry of the list. */
#define luaN_holds(m,o) \
  ((m)->holders.n > 0 && (m)->holders.a[(m)->holders.n - 1] == (void *)(o))

/* True if the running minor collection has reached the object o, of any type, and leaves it
   young. */
#define luaN_ismet(o) \
  (((o)->tt == LUA_VLNGSTR || (o)->tt == LUA_VUSERDATA) && \
   ((o)->marked & (LUAN_EPOCH | LUAN_MET)) == LUAN_MET)

/* Returns the survivor age of o, a long string or userdata: how many minor collections o has
   survived without being tenured. For a userdata of at most LUAN_LARGETEXT bytes that has survived
   one collection, returns LUAN_MOSTAGE, so that the next minor collection tenures o. */
LUAI_FUNC unsigned luaN_age (const GCObject *o);

/* Sets the survivor age of o, a long string or userdata (luaN_age). The age of a userdata of more
   than LUAN_LARGETEXT bytes is in the byte before the userdata; any other age is in the field
   'marked' of o. */
LUAI_FUNC void luaN_setage (GCObject *o, unsigned age);

/* To be called when marking reaches the young object o, a long string or userdata. If this
   collection may leave o young, sets LUAN_MET of o, records the object that refers to o, and
   returns 1; if o is a userdata, the caller must then mark its metatable. Otherwise returns 0, and
   the caller must mark o, which tenures o. */
LUAI_FUNC int luaN_staysyoung (global_State *g, GCObject *o);
