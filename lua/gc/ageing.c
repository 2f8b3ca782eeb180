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


/* Whoever holds a text is looked at again: where very many do, as nodes do of what they were parsed
   from, it is no text that is edited. */
#define MOST_HOLDERS	256u


/* All of a big table would have to be looked at again. */
static int isbig (const GCObject *o) {
  return o->tt == LUA_VTABLE && (o->marked & LUAN_LISTED);
}


int luaN_staysyoung (global_State *g, GCObject *o) {
  luaN_Mark *m = &g->heap.gc.mark;
  if (m->holder == NULL || (o->marked & LUAN_TWICE) ||
      sizelstring(gco2ts(o)->u.lnglen) <= LUAN_LARGE || isbig(m->holder) ||
      !(luaN_holds(m, m->holder) ||
        (m->holders.n < MOST_HOLDERS && luaN_push(g, &m->holders, m->holder))))
    return 0;
  o->marked |= LUAN_MET;
  return 1;
}
