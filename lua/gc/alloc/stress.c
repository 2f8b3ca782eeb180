/* SPDX-License-Identifier: MIT */
/* Reads LUAN_STRESS, the settings of the debug build for tests (stress.h). */

#include <stdlib.h>

#include "lgc.h"

#include "host.h"
#include "stress.h"


#if defined(LUAN_DEBUG)


/* With emergency=N (stress.h), the number of events between two emergency collections grows by N
   for each EMERGENCY_STEP bytes of old objects. */
#define EMERGENCY_STEP		((l_mem)64 * 1024)


void luaN_readstress (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  const char *s = getenv("LUAN_STRESS"), *p;
  if (s == NULL) return;
  if ((p = strstr(s, "nursery=")) != NULL)
    c->pace.fixednursery = strtoul(p + 8, NULL, 10);
  if ((p = strstr(s, "verify=")) != NULL)
    c->stress.verify = (unsigned)strtoul(p + 7, NULL, 10);
  if ((p = strstr(s, "remember=")) != NULL)
    c->remset.many = (unsigned)strtoul(p + 9, NULL, 10);
  if ((p = strstr(s, "emergency=")) != NULL) {
    c->stress.emergency = (unsigned)strtoul(p + 10, NULL, 10);
    luaN_flush(g);
  }
  if ((p = strstr(s, "slice=")) != NULL)
    c->stress.slice = strtoul(p + 6, NULL, 10);
  if (strstr(s, "major") != NULL) {
    c->stress.major = 1;
    c->pace.threshold = 0;
  }
}


/* Runs an emergency collection at every N-th event (emergency=N, stress.h). Then restores GCdebt,
   so that other collections and finalizers run at the same safepoints as without emergency=N. */
void luaN_stress (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  if (c->stress.emergency == 0 || !luaN_maycollect(g)) return;
  if (c->stress.untilemergency == 0) {
    l_mem debt;
    luaN_flush(g);
    debt = g->GCdebt;
    luaN_emergency(L);
    luaE_setdebt(g, debt);
    c->stress.untilemergency =
        c->stress.emergency * (1 + (unsigned)(c->bytes.old / EMERGENCY_STEP));
  }
  c->stress.untilemergency--;
}
#endif
