/* SPDX-License-Identifier: MIT */
/* The set of objects that a walk has reached (visits.h). */

#include "lgc.h"

#include "ageing.h"
#include "mark.h"
#include "traverse.h"
#include "visits.h"


/* Returns 1 if the bit TESTBIT of o->marked records whether the walk has visited o: for the main
   thread and the objects of lists.large (prototypes; long strings and userdata of more than
   LUAN_LARGETEXT bytes). Returns 0 for other objects, for which a bit of their block records it. */
static int islarge (const global_State *g, const GCObject *o) {
  switch (o->tt) {
    case LUA_VPROTO: return 1;
    case LUA_VTHREAD: return o == obj2gco(g->mainthread);
    case LUA_VUSERDATA:
    case LUA_VLNGSTR:
      return luaN_textsize(o) > LUAN_LARGETEXT;
    default: return 0;
  }
}


static uint64_t *bitof (const global_State *g, const GCObject *o, uint64_t *bit) {
  luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
  size_t i = luaN_granuleof(b, o);
  *bit = UINT64_C(1) << (i % 64);
  return &luaN_bits(b)[i / 64];
}


int luaN_isvisited (const global_State *g, const GCObject *o) {
  uint64_t bit;
  if (islarge(g, o)) return testbit(o->marked, TESTBIT) != 0;
  return (*bitof(g, o, &bit) & bit) != 0;
}


int luaN_visit (const global_State *g, GCObject *o) {
  uint64_t bit, *word;
  if (islarge(g, o)) {
    if (testbit(o->marked, TESTBIT)) return 1;
    l_setbit(o->marked, TESTBIT);
    return 0;
  }
  word = bitof(g, o, &bit);
  if (*word & bit) return 1;
  *word |= bit;
  return 0;
}


void luaN_clearvisits (global_State *g) {
  luaN_clearbits(g, bitmask(TESTBIT));
}
