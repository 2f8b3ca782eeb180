/* SPDX-License-Identifier: MIT */
/*
** Large leaf objects stay young in two minor collections and are tenured by the third; small
** userdata with finalizers stay young in one.
**
** An ageing object is a long string of more than LUAN_LARGETEXT bytes, a userdata of such a size,
** or a userdata with a finalizer. It must own no external bytes and refer to nothing young. Such
** objects are often alive in one or two minor collections and dead soon after, for example a
** string that is edited or appended to. If it were tenured by the first one, only a major
** collection could free it.
**
** So a minor collection that reaches a young ageing object leaves it young: it sets LUAN_MET, and
** the sweep turns that into a higher survivor age. The holder of the reference is remembered, so
** that the next minor collection reaches the object again (G1). The holder is an object, a slot
** of a table that has had a large vector, or a thread. In a thread, the frames from the running
** one out to the one that contains the slot are scanned again. Because an ageing object refers to
** nothing young, nothing else is young after a minor collection.
**
** The object is tenured at once if visiting the holder again would be expensive: if the holder is
** a large table that is remembered as a whole, a weak table, or a list of the collector, or if
** there are more holders than MOST_HOLDERS. It is also tenured while a major collection runs or
** starts, because a major collection requires that nothing is young.
**
** A holder is old. If it is dead, it keeps the object alive until the object is tenured, as all
** old garbage does with the young objects that it refers to.
**
** Small userdata with finalizers are in no list of the sweep. They are listed in finalize.aged
** from one minor collection to the next, and waiting.c marks their lines. They stay young only
** once, because leaving them young a second time costs more than tenuring them.
**
** All other objects are tenured by their first collection, because that costs less than visiting
** them twice.
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

/* Starts a minor collection. 'on' is 1 if objects may stay young. */
#define luaN_beginageing(c,on)	((c)->mark.ageing = (lu_byte)(on))

/* Sets the holder to o, whose references are traversed next. If o is NULL, no object that is
   reached may stay young. */
#define luaN_agein(c,o) \
  ((c)->mark.holder = (c)->mark.ageing ? (o) : NULL)

/* True if o is the holder that was listed last for an object that stays young. */
#define luaN_holds(m,o) \
  ((m)->holders.n > 0 && (m)->holders.a[(m)->holders.n - 1] == (void *)(o))

/* True if the running minor collection leaves o, an object of any type, young. */
#define luaN_ismet(o) \
  (((o)->tt == LUA_VLNGSTR || (o)->tt == LUA_VUSERDATA) && \
   ((o)->marked & (LUAN_EPOCH | LUAN_MET)) == LUAN_MET)

/*
** luaN_age returns the survivor age of o, a long string or userdata; for a small userdata with a
** finalizer, LUAN_MOSTAGE if it was left young once. luaN_setage sets it. A large userdata has it
** in the byte before it, a string in its 'marked'.
*/
LUAI_FUNC unsigned luaN_age (const GCObject *o);
LUAI_FUNC void luaN_setage (GCObject *o, unsigned age);

/* Returns 1 if the young string or userdata o, which was just reached, stays young; its holder is
   listed then. The caller must mark the metatable of a userdata. */
LUAI_FUNC int luaN_staysyoung (global_State *g, GCObject *o);

#endif
