/* SPDX-License-Identifier: MIT */
/*
** Large leaf objects are left young by two minor collections and tenured by the third; small
** userdata with finalizers are left young by one.
**
** An ageing object is a long string of more than LUAN_LARGETEXT bytes, a userdata of such a size,
** or a userdata with a finalizer. Of these, a userdata counts only if it owns no external bytes,
** has at most one user value, and refers to no unmarked object but its metatable. Ageing objects
** are often alive in one or two minor collections and dead soon after, for example a string that is
** edited or appended to. If the first minor collection tenured them, only a major collection could
** free them.
**
** So a minor collection that reaches a young ageing object leaves the object young: the collection
** sets LUAN_MET, and replaces that bit by a higher survivor age before it ends. The holder of the
** reference is remembered, so that the next minor collection reaches the object again (G1). The
** holder is a slot of a table that has had a large vector, or another object as a whole. In a
** thread, the frames from the running one out to the one that contains the slot are scanned again.
** Because an ageing object refers to nothing young, only ageing objects and userdata pending
** finalization (waiting.h) are young after a minor collection.
**
** The object is tenured at once if visiting the holder again would be expensive: if the holder is a
** huge table, a table with a large vector that is traversed as a whole, a slot of a weak table, or
** a list of the collector, or if MOST_HOLDERS objects, or MOST_SLOTS slots, are holders already.
** The object is also tenured while a major collection runs or starts, because that needs a heap
** without young objects.
**
** A holder is old. If it is dead, it keeps the object alive until the next major collection, as all
** old garbage does with the young objects that it refers to.
**
** Small userdata with finalizers are not in lists.large. Those that a minor collection leaves young
** are in finalize.aged until the next minor collection, and waiting.c sets LUAN_HELD on their
** lines. They stay young only once, because leaving them young a second time costs more than
** tenuring them.
**
** All other live objects are tenured by their first collection, because that costs less than
** visiting them twice.
*/
#ifndef luaN_ageing_h
#define luaN_ageing_h

#include "lgc.h"
#include "lstate.h"
#include "lstring.h"

#include "leaf.h"

/* Number of minor collections that leave a large leaf object young. A higher number finds more of
   them dead without a major collection, and visits the live ones more often. */
#define LUAN_MOSTAGE	2u

/* Sets whether the running minor collection may leave objects young; 'on' is 0 when the collection
   ends. */
#define luaN_beginageing(c,on)	((c)->mark.ageing = (lu_byte)(on))

/* Sets mark.holder to o, whose references are traversed next, or to NULL if mark.ageing is 0. While
   the holder is NULL, no object that marking reaches stays young. */
#define luaN_agein(c,o) \
  ((c)->mark.holder = (c)->mark.ageing ? (o) : NULL)

/* True if o is the last entry of m->holders. */
#define luaN_holds(m,o) \
  ((m)->holders.n > 0 && (m)->holders.a[(m)->holders.n - 1] == (void *)(o))

/* True if the running minor collection leaves o, an object of any type, young. */
#define luaN_ismet(o) \
  (((o)->tt == LUA_VLNGSTR || (o)->tt == LUA_VUSERDATA) && \
   ((o)->marked & (LUAN_EPOCH | LUAN_MET)) == LUAN_MET)

/* luaN_age returns the survivor age of o, a long string or userdata; for a small userdata,
   LUAN_MOSTAGE if it was left young once, else 0. luaN_setage sets the age. The age is in the byte
   before a large userdata, and in 'marked' of other objects. */
LUAI_FUNC unsigned luaN_age (const GCObject *o);
LUAI_FUNC void luaN_setage (GCObject *o, unsigned age);

/* If o, a young long string or userdata that was just reached, may stay young, sets LUAN_MET, lists
   the holder, adds a small o to finalize.aged, and returns 1; the caller must then mark the
   metatable of a userdata. Else returns 0; the caller must mark o. */
LUAI_FUNC int luaN_staysyoung (global_State *g, GCObject *o);

#endif
