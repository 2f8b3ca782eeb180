/* SPDX-License-Identifier: MIT */
/*
** The life of a thread (thread.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"
#include "lmem.h"

#include "host.h"
#include "limit.h"
#include "mark.h"
#include "remset.h"
#include "sampling.h"
#include "scan.h"
#include "stress.h"
#include "thread.h"
#include "vec.h"


GCObject *luaC_newobjdt (lua_State *L, int tt, size_t size, size_t offset) {
  global_State *g = G(L);
  luaN_Vec *v = &g->heap.gc.lists.threads.v;
  GCObject *o;
  lua_assert(tt == LUA_VTHREAD);
  luaN_stress(L);
  if (!luaN_reserve(g, v, 1)) {
    if (!g->gcstopem) luaN_emergency(L);
    if (!luaN_reserve(g, v, 1)) luaM_error(L);
  }
  o = cast(GCObject *, cast_charp(luaN_newin(L, &g->heap, size, tt)) + offset);
  v->a[v->n++] = o;  /* an emergency may have made room, not taken it */
  o->marked = 0;
  o->tt = cast_byte(tt);
  gco2th(o)->stack.p = NULL;
  gco2th(o)->openupval = NULL;
  return o;
}


/*
** An emergency collection may have tenured the thread while its stack was asked
** for: there was nothing to scan then, and nothing to count.
*/
void luaN_built (lua_State *L) {
  if (luaN_isold(L)) {
    luaN_recounted(L, obj2gco(L), (l_mem)luaN_round(luaN_stackbytes(L)));
    luaN_dirtythread(L);
  }
}


/* Nothing is allocated between the move and this (S2). */
void luaN_moved (lua_State *L, int oldsize) {
  if (L->marked & LUAN_CLEAN) luaN_dirtythread(L);
  luaN_recounted(L, obj2gco(L),
                 (l_mem)(L->stackroom - oldsize) * (l_mem)sizeof(StackValue));
  luaN_takewaiting(L);
}


void luaN_eraserest (lua_State *L) {
  luaN_erase(L->top.p, L->stack_last.p + EXTRA_STACK - L->top.p);
  G(L)->heap.starved = 0;
}


size_t luaN_shrinkthread (lua_State *th, int all) {
  int keep = (th->marked & LUAN_LONG) && !all;
  size_t cost = 0;
  if (!keep) {
    int room = th->stackroom;
    unsigned n;
    if (stacksize(th) / 3 > th->top.p - th->stack.p)  /* else it looks at all frames */
      luaD_shrinkstack(th);                           /* and finds it used enough */
    if (stacksize(th) < th->stackroom)
      luaD_reallocstack(th, stacksize(th), 0);
    if (th->stackroom < room)
      cost = (size_t)(room + th->stackroom) * sizeof(StackValue) / 2;
    if (G(th)->heap.gc.mark.thread == th) luaN_beginthread(G(th), th);  /* once more */
    do {  /* half of the CallInfos that are not in use; all: but one */
      n = th->nci;
      luaE_shrinkCI(th);
      cost += n * sizeof(CallInfo);
    } while (all && th->nci < n);
  }
  th->marked &= (lu_byte)~LUAN_LONG;
  return cost;
}


void luaN_endthread (lua_State *L, lua_State *th) {
  global_State *g = G(L);
  size_t n = luaN_stackbytes(th);
  UpVal *uv;
  while ((uv = th->openupval) != NULL) {
    th->openupval = uv->u.open.next;
    if (!luaN_white(g, obj2gco(uv))) {  /* a closure keeps it */
      TValue *slot = &uv->u.value;
      setobj(L, slot, uv->v.p);
      uv->v.p = slot;
    }
  }
  luai_userstatefree(L, th);
  if (th->stack.p != NULL && n > LUAN_LARGE)
    luaN_ask(g, th->stack.p, n, 0);
}
