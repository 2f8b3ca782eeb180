/* SPDX-License-Identifier: MIT */
/*
** Texts that stay young (ageing.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"
#include "lstring.h"

#include "ageing.h"
#include "vec.h"


/* All of a big table would have to be looked at again. */
static int isbig (const GCObject *o) {
  return o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED);
}


int luaN_staysyoung (global_State *g, GCObject *o) {
  luaN_Mark *m = &g->heap.gc.mark;
  if (m->holder == NULL || (o->marked & LUAN_TWICE) ||
      sizelstring(gco2ts(o)->u.lnglen) <= LUAN_LARGE || isbig(m->holder) ||
      !(luaN_holds(m, m->holder) || luaN_push(g, &m->holders, m->holder)))
    return 0;
  o->marked |= LUAN_MET;
  return 1;
}
