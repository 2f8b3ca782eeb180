/* SPDX-License-Identifier: MIT */
/*
** Tombstoned slots of weak tables (lua/gc/hidden.h), in files of upstream that would take them
** for empty. In the files that call these functions, slots are restored before they are read.
** (luaV_finishget and luaV_finishset call luaN_isfilled themselves, because every fast path that
** finds nothing ends there.)
*/
#ifndef luaN_shown_h
#define luaN_shown_h

#include "hidden.h"

/* Reads by the API. */
#if defined(lapi_c)
#define luaH_get(t,k)	luaN_shown(L, t, luaH_get(t, k))
#define luaH_getint(t,k)	luaN_shown(L, t, luaH_getint(t, k))
#define luaH_next(L,t,k)	(luaN_showsome(L, t, s2v(k)), luaH_next(L, t, k))
#endif

#if defined(lapi_c) || defined(lvm_c)
#define luaH_getn(t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))
#endif

/* Searches for the place of a new key, and code that is about to traverse the vectors of a table. */
#if defined(ltable_c)

static inline Node *luaN_shownode (lua_State *L, Table *t, Node *n) {
  if (l_unlikely(t->flags & LUAN_SCANNED)) luaN_showentry(L, t, n);
  return n;
}

#define mainpositionTV(t,k)	luaN_shownode(L, t, mainpositionTV(t, k))
#define setlimittosize(t)	(luaN_showall(L, t), setlimittosize(t))
#endif

#endif
