/* SPDX-License-Identifier: MIT */
/*
** Objects that minor collections may leave young. Large leaf objects are left young by two minor
** collections and tenured by the third; small userdata with finalizers are left young by one. All
** other live objects are tenured by the first collection, because that costs less than visiting
** them twice.
**
** An ageing object is one of
**   - a long string of more than LUAN_LARGETEXT bytes
**   - a userdata of such a size or with a finalizer, if it owns no external bytes, has at most one
**     user value, and refers to no unmarked object but its metatable
** Such objects are often alive in one or two minor collections and dead soon after: for example, a
** string that is edited or appended to. If the first minor collection tenured them, only a major
** collection could free them.
**
** So a minor collection that reaches a young ageing object sets the bit LUAN_MET of the object
** instead of tenuring it. Before the collection ends, it clears that bit and increases the survivor
** age, the number of collections that have left the object young. The holder, which contains the
** reference, is remembered, so that the next minor collection reaches the object again (G1). If the
** holder is a table that has had a vector of more than LUAN_LARGE bytes, only the slot is
** remembered; other holders are remembered as a whole. If the holder is a thread, the frames from
** the running one out to the one that contains the slot are scanned again. Because an ageing object
** refers to nothing young, only ageing objects and userdata pending finalization (waiting.h) are
** young after a minor collection.
**
** The object is tenured at once if visiting the holder again would be expensive:
**   - the holder is a huge table (LUAN_VAST), a table with a large vector that is traversed as a
**     whole, a slot of a weak table, or a list of the collector
**   - there are MOST_HOLDERS objects or MOST_SLOTS slots as holders already
** It is also tenured while a major collection runs or starts, because a major collection needs a
** heap without young objects.
**
** A holder is old. If it is dead, it keeps the object alive until the next major collection, as all
** old garbage does with the young objects that it refers to.
**
** Small userdata with finalizers are not in lists.large, where the sweep finds the large leaf
** objects. Those that a minor collection leaves young are in finalize.aged until the next minor
** collection, and waiting.c sets LUAN_HELD on their lines. They stay young only once, because
** leaving them young a second time costs more than tenuring them.
*/
#ifndef luaN_ageing_h
#define luaN_ageing_h

#include "lgc.h"
#include "lstate.h"
#include "lstring.h"

#include "leaf.h"

/* Number of minor collections that leave a large leaf object young. With a higher number, more of
   them are found dead without a major collection, and the live ones are visited more often. */
#define LUAN_MOSTAGE	2u

/* Sets whether the running minor collection may leave objects young. To be called with 0 when the
   collection ends. */
#define luaN_beginageing(c,on)	((c)->mark.ageing = (lu_byte)(on))

/* To be called before the references of o are traversed. Sets mark.holder to o, so that objects
   that o refers to may stay young, or to NULL if mark.ageing is 0. While mark.holder is NULL, every
   object that marking reaches is tenured. */
#define luaN_agein(c,o) \
  ((c)->mark.holder = (c)->mark.ageing ? (o) : NULL)

/* True if o is the last entry of m->holders, the list of objects that refer to objects that the
   running minor collection leaves young. While o is traversed, that means that o refers to such an
   object. */
#define luaN_holds(m,o) \
  ((m)->holders.n > 0 && (m)->holders.a[(m)->holders.n - 1] == (void *)(o))

/* True if the running minor collection leaves o young. o may have any type. */
#define luaN_ismet(o) \
  (((o)->tt == LUA_VLNGSTR || (o)->tt == LUA_VUSERDATA) && \
   ((o)->marked & (LUAN_EPOCH | LUAN_MET)) == LUAN_MET)

/* luaN_age returns the survivor age of o, a long string or userdata: the number of minor
   collections that have left o young. For a small userdata the result is LUAN_MOSTAGE if that
   has happened once, else 0. luaN_setage sets the age. The age of a large userdata is in the
   byte before the userdata, other ages are in 'marked'. */
LUAI_FUNC unsigned luaN_age (const GCObject *o);
LUAI_FUNC void luaN_setage (GCObject *o, unsigned age);

/*
** Tries to leave o young in the running minor collection. To be called when marking has just
** reached o, a young long string or userdata. Returns 0 if o may not stay young; the caller must
** mark o. Otherwise:
**   - sets LUAN_MET in o
**   - records the object or slot that refers to o (its holder) in mark.holders or mark.slots
**   - adds a small userdata to finalize.aged
**   - returns 1; the caller must mark the metatable of a userdata
*/
LUAI_FUNC int luaN_staysyoung (global_State *g, GCObject *o);

#endif
