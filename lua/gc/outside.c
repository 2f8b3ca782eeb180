/* SPDX-License-Identifier: MIT */
/*
** Memory and resources outside of the heap that userdata stand for: an image, a
** connection, an open file. To the collector such a userdata is a few bytes; what
** it stands for says how soon its death should be found. So these bytes count
** as growth, which begins major collections (pace.c), and many of them at once
** bring a minor collection early. (Compare caml_alloc_custom_mem of OCaml and
** the external memory of V8.)
**
** A userdata that stands for something is in 'standins', which collections sweep
** as they do the lists of sweep.c: when it is dead the bytes are taken back. Its
** finalizer runs before that, for it brings the userdata back for a while.
**
** Invariants (checked by luaN_verify):
**   UO1  'outside' is the sum of what the userdata in 'standins' stand for. They
**       are LUAN_LISTED, once each; no other userdata stands for anything.
**   UO2  a userdata that stands for something has been counted by samples to that
**       amount at least ('most', as far as it goes); one that does not has no 'most'.
*/
#define LUA_CORE

#include "lprefix.h"

#include <limits.h>

#include "lua.h"

#include "lapi.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"

#include "collector.h"
#include "seam.h"

/* New bytes outside that bring a minor collection: so many, and this part of all. */
#define EARLY_MIN	((size_t)1 << 20)
#define EARLY_PART	4u


int luaN_keepstandin (global_State *g, Udata *u) {
  if (luaN_white(g, u)) g->heap.gc.outside -= u->outside;
  else if (u->outside == 0) u->marked &= (lu_byte)~LUAN_LISTED;
  else return 1;
  return 0;
}


static size_t unitsof (size_t n) {
  return n / LUAN_UNIT + (n % LUAN_UNIT != 0);
}


/* UO1 and UO2 of what is listed. Returns what is wrong, of which userdata; or NULL. */
const char *luaN_checkoutside (const global_State *g, const void **where) {
  const luaN_Gc *c = &g->heap.gc;
  const luaN_List *l = &c->standins;
  size_t i, sum = 0;
  *where = c;
  if (l->old > l->v.n) return "UO1 (old)";
  for (i = 0; i < l->v.n; i++) {
    const Udata *u = (const Udata *)l->v.a[i];
    size_t units;
    if (u == NULL) continue;  /* a sweep in slices has been there */
    units = unitsof(u->outside);
    *where = u;
    if (u->tt != LUA_VUSERDATA || !(u->marked & LUAN_LISTED)) return "UO1 (listed)";
    if (u->most < (units < UINT_MAX ? units : UINT_MAX) || (units == 0) != (u->most == 0))
      return "UO2";
    sum += u->outside;
  }
  *where = c;
  return (sum == c->outside) ? NULL : "UO1 (sum)";
}


/*
** Samples count the units by which 'most' grows, so that what goes up and down
** again and again counts once. 'Most' is 0 when u stands for nothing.
*/
static void tellsampler (lua_State *L, Udata *u, size_t n) {
  size_t units = unitsof(n);
  if (n == 0) {
    if (u->most != 0) luaN_tookback(L, u);
    u->most = 0;
  }
  else if (units > u->most && u->most < UINT_MAX) {
    uint64_t before = u->most;
    u->most = (units < UINT_MAX) ? (unsigned)units : UINT_MAX;
    luaN_countoutside(L, u, (u->most - before) * LUAN_UNIT);
  }
}


LUA_API void luaN_outside (lua_State *L, int idx, size_t n) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t others;
  Udata *u;
  lua_lock(L);
  api_check(L, lua_type(L, idx) == LUA_TUSERDATA, "full userdata expected");
  lua_pushvalue(L, idx);
  u = uvalue(s2v(L->top.p - 1));
  L->top.p--;
  if (n != 0 && !(u->marked & LUAN_LISTED)) {
    if (!luaN_reserve(g, &c->standins.v, 1)) {
      lua_unlock(L);
      return;  /* a hint that is lost */
    }
    c->standins.v.a[c->standins.v.n++] = u;
    u->marked |= LUAN_LISTED;
  }
  others = c->outside - u->outside;
  if (n > LUAN_MOSTOUTSIDE - others) n = LUAN_MOSTOUTSIDE - others;
  c->outside = others + n;
  if (n > u->outside) {
    c->newoutside += n - u->outside;
    if (c->newoutside >= EARLY_MIN &&
        c->newoutside >= c->outside / EARLY_PART)
      luaN_hurry(g);
  }
  u->outside = n;
  tellsampler(L, u, n);
  luaC_checkGC(L);  /* here, where the userdata has its metatable as a rule */
  lua_unlock(L);
}
