/* SPDX-License-Identifier: MIT */
/* Ageing: minor collections leave some live objects young instead of making them old (ageing.h). */

#include "lgc.h"

#include "ageing.h"
#include "optional.h"


/*
** Limits of the holders, the objects and slots that refer to objects which a minor collection
** leaves young. The next minor collection must visit the holders again.
** MOST_HOLDERS  number of objects in mark.holders
** MOST_SLOTS    number of slots in mark.slots. It is higher, because a visit of a slot costs less
**               than a visit of an object.
**
** If a limit is reached, objects are tenured instead of left young, so that the next minor
** collection has a bounded number of holders to visit.
*/
#define MOST_HOLDERS	256u
#define MOST_SLOTS	LUAN_CACHED


/*
** Records the reference through which marking has reached an object that is to stay young:
** mark.holder, the object with the reference, or only mark.slot, its slot. The next minor
** collection will visit the recorded object or slot again. Returns 0 if nothing can be recorded: a
** limit is reached, a second visit of the holder would cost too much (ageing.h), or there is no
** memory.
*/
static int ageing_hold (global_State *g) {
  luaN_Mark *m = &g->heap.gc.mark;
  GCObject *o = m->holder;
  if (o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED)) {
    if (m->slot == NULL || (o->marked & LUAN_VAST) || m->slots.n >= 2 * MOST_SLOTS ||
        !luaN_reserve(g, &m->slots, 2))
      return 0;
    m->slots.a[m->slots.n++] = o;
    m->slots.a[m->slots.n++] = m->slot;
    return 1;
  }
  return luaN_holds(m, o) || (m->holders.n < MOST_HOLDERS && luaN_push(g, &m->holders, o));
}


unsigned luaN_age (const GCObject *o) {
  if (o->tt != LUA_VUSERDATA) return (o->marked & LUAN_TWICE) ? 2 : (o->marked & LUAN_AGED) != 0;
  if (luaN_textsize(o) > LUAN_LARGETEXT) return ((const lu_byte *)o)[-1] >> LUAN_UDATAAGE;
  return (o->marked & LUAN_AGEDUDATA) ? LUAN_MOSTAGE : 0;
}


void luaN_setage (GCObject *o, unsigned age) {
  if (o->tt != LUA_VUSERDATA) {
    o->marked &= (lu_byte)~(LUAN_AGED | LUAN_TWICE);
    if (age > 0) o->marked |= (age > 1) ? (LUAN_AGED | LUAN_TWICE) : LUAN_AGED;
  }
  else if (luaN_textsize(o) > LUAN_LARGETEXT) {
    lu_byte *p = (lu_byte *)o - 1;
    *p = (lu_byte)((*p & ((1u << LUAN_UDATAAGE) - 1)) | age << LUAN_UDATAAGE);
  }
  else if (age > 0) o->marked |= LUAN_AGEDUDATA;
  else o->marked &= (lu_byte)~LUAN_AGEDUDATA;
}


/* Returns 1 if u has no user value, or a single one that is marked or is not an object. Only such a
   userdata may be left young (ageing.h). */
static int isleaf (const global_State *g, const Udata *u) {
  return u->nuvalue == 0 ||
         (u->nuvalue == 1 && !(iscollectable(&u->uv[0].uv) &&
                               !luaN_hasepoch(gcvalue(&u->uv[0].uv), g->heap.gc.mark.epoch)));
}


/* Returns 1 if minor collections may leave o, a long string or userdata, young (conditions in
   ageing.h). While ephemerons are resolved from their keys (weak.chasing), returns 0 for every
   userdata: chase.c finds only keys that were pushed on a mark stack, and an object that is left
   young is not pushed. */
static int istext (const global_State *g, const GCObject *o) {
  if (luaN_textsize(o) <= LUAN_LARGETEXT && !(o->tt == LUA_VUSERDATA && tofinalize(o))) return 0;
  return o->tt == LUA_VLNGSTR || (!(o->marked & LUAN_LISTED) && !g->heap.gc.weak.chasing &&
                                  isleaf(g, gco2u(o)));
}


int luaN_staysyoung (global_State *g, GCObject *o) {
  luaN_Mark *m = &g->heap.gc.mark;
  if (!luaN_has(LUAN_AGEING) || m->holder == NULL || !istext(g, o) || luaN_age(o) >= LUAN_MOSTAGE ||
      !ageing_hold(g))
    return 0;
  if (luaN_textsize(o) <= LUAN_LARGETEXT && !luaN_ismet(o) &&
      !luaN_push(g, &g->heap.gc.finalize.aged, o))
    return 0;
  o->marked |= LUAN_MET;
  m->met++;
  return 1;
}
