/* SPDX-License-Identifier: MIT */
/* External bytes of userdata (outside.h). */

#include "lgc.h"

#include "mark.h"
#include "outside.h"
#include "sampling.h"

/* The next minor collection starts early if at least EARLY_MIN external bytes were added since the
   last minor collection, and the added bytes are at least 1 / EARLY_PART of all external bytes. A
   lower EARLY_MIN or a higher EARLY_PART finds dead owners earlier and runs more collections. */
#define EARLY_MIN	((size_t)LUAN_OVERDUE)
#define EARLY_PART	4u


int luaN_keepstandin (global_State *g, Udata *u) {
  if (luaN_white(g, u)) g->heap.gc.bytes.outside -= u->outside;
  else if (u->outside == 0) u->marked &= (lu_byte)~LUAN_LISTED;
  else return 1;
  return 0;
}


static size_t unitsof (size_t n) {
  return n / LUAN_UNIT + (n % LUAN_UNIT != 0);
}


const char *luaN_checkoutside (const global_State *g, const void **where) {
  const luaN_Gc *c = &g->heap.gc;
  const luaN_List *l = &c->lists.standins;
  size_t i, sum = 0;
  *where = c;
  if (l->old > l->v.n) return "UO1 (old)";
  for (i = 0; i < l->v.n; i++) {
    const Udata *u = (const Udata *)l->v.a[i];
    size_t units;
    if (u == NULL) continue;  /* slices of a sweep have visited the entry */
    units = unitsof(u->outside);
    *where = u;
    if (u->tt != LUA_VUSERDATA || !(u->marked & LUAN_LISTED)) return "UO1 (listed)";
    if (u->most < (units < UINT_MAX ? units : UINT_MAX) || (units == 0) != (u->most == 0))
      return "UO2";
    sum += u->outside;
  }
  *where = c;
  return (sum == c->bytes.outside) ? NULL : "UO1 (sum)";
}


/*
** Reports a change of the external bytes of u to the sampler. n: external bytes that u owns now.
**
** If n / LUAN_UNIT, rounded up, exceeds u->most, the largest number of units that u has owned since
** it last owned none (UO2), counts the difference as newly allocated, so that it may be sampled. If
** n is 0, sets u->most to 0, and reports the external bytes as freed if the sampler watches them.
*/
static void reportchange (lua_State *L, Udata *u, size_t n) {
  size_t units = unitsof(n);
  if (n == 0) {
    /* The sampler knows the external bytes by the address of the field 'outside'
       (luaN_countoutside). */
    if (u->most != 0 && luaN_iswatched(&G(L)->heap, &u->outside)) luaN_reportfree(L, &u->outside);
    u->most = 0;
  }
  else if (units > u->most && u->most < UINT_MAX) {
    uint64_t before = u->most;
    u->most = (units < UINT_MAX) ? (unsigned)units : UINT_MAX;
    luaN_countoutside(L, u, (u->most - before) * LUAN_UNIT);
  }
}


void luaN_standfor (lua_State *L, Udata *u, size_t n) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t others;
  if (n != 0 && !(u->marked & LUAN_LISTED)) {
    if (!luaN_push(g, &c->lists.standins.v, u)) return;
    u->marked |= LUAN_LISTED;
  }
  others = c->bytes.outside - u->outside;
  if (n > LUAN_MOSTOUTSIDE - others) n = LUAN_MOSTOUTSIDE - others;
  c->bytes.outside = others + n;
  if (n > u->outside) {
    c->bytes.youngoutside += n - u->outside;
    if (c->bytes.youngoutside >= EARLY_MIN &&
        c->bytes.youngoutside >= c->bytes.outside / EARLY_PART)
      luaN_hurry(g);
  }
  u->outside = n;
  reportchange(L, u, n);
}
