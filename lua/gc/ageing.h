/* SPDX-License-Identifier: MIT */
/*
** Texts live through two more minor collections before they are old, small ones through one.
**
** A text is a long string larger than LUAN_LARGETEXT, or a userdata as large, or one with a
** finalizer, that stands for nothing outside and refers to nothing young. One that is edited,
** or that grows by concatenation, is alive in every minor collection and dead soon; were it
** tenured like all else, it would take a look at all that is old to find it dead. So a minor
** collection that meets a young text leaves it young (MET; AGED behind the sweep), and whoever
** it was met in is remembered, for the next minor collection is to come there again
** (G1): an object, a slot of a table that has had a large vector, or a thread with the frames from
** the one inwards whose slot it is. It is left
** so twice; the third one tenures it, if it is alive. A text leads nowhere, so nothing else is
** young behind a minor collection.
**
** Where the text is met in something that is not looked at again at little cost (such a table that
** is looked at as a whole, weak ones, lists of the collector's, more holders than a few hundred) it
** is tenured at once; so it is while a major collection runs, and when one begins, which takes
** whatever it finds young for a fault. Whoever holds it is old by then: if that is dead, it
** keeps the text until it is tenured, as old garbage does with all that is young.
**
** Small userdata with finalizers, which are in no list of the sweep's, are listed in finalize.aged
** from one minor collection to the next, and waiting.c sees to their lines. They are left young
** once: to leave them so again takes longer than to tenure them.
**
** Ageing is what the literature calls it (survivors wait for a second collection); of all else
** the first is enough: to tenure it costs less than to look at it twice.
*/
#ifndef luaN_ageing_h
#define luaN_ageing_h

#include "lgc.h"
#include "lstate.h"
#include "lstring.h"

#define LUAN_UDATAAGE	5	/* bits of the byte in front of a large userdata below its age */
#define LUAN_MOSTAGE	2u	/* minor collections that leave a text young */

/* A minor collection begins: 'on', texts may stay young. */
#define luaN_beginageing(c,on)	((c)->mark.ageing = (lu_byte)(on))

/* What is traversed now, whose texts may stay young; NULL: nothing of which that is so. */
#define luaN_agein(c,o) \
  ((c)->mark.holder = (c)->mark.ageing ? (o) : NULL)

/* Has one of its texts been met in o? It is the last thing that was asked for. */
#define luaN_holds(m,o) \
  ((m)->holders.n > 0 && (m)->holders.a[(m)->holders.n - 1] == (void *)(o))

/* Of a string or a userdata: does the minor collection that runs leave it young? */
#define luaN_ismet(o) \
  (((o)->tt == LUA_VLNGSTR || (o)->tt == LUA_VUSERDATA) && \
   ((o)->marked & (LUAN_EPOCH | LUAN_MET)) == LUAN_MET)

/* Bytes of a long string or userdata. */
static inline size_t luaN_textsize (const GCObject *o) {
  if (o->tt == LUA_VUSERDATA) return luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
  return sizelstring(gco2ts(o)->u.lnglen);
}

/* How many minor collections have left o young, a long string or a userdata: in front of one that
   is listed is a byte with room for that (LUAN_UDATAAGE), of another one one counts as the most. */
LUAI_FUNC unsigned luaN_age (const GCObject *o);
LUAI_FUNC void luaN_setage (GCObject *o, unsigned age);

/* Does o, a young string or userdata that was met now, stay young? Then its holder is in
   mark.holders; a userdata's metatable is left to the caller. */
LUAI_FUNC int luaN_staysyoung (global_State *g, GCObject *o);

#endif
