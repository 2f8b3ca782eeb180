/* SPDX-License-Identifier: MIT */
/* Threads: allocation, moves and shrinking of their stacks, and their end (thread.h). */

#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"

#include "host.h"
#include "mark.h"
#include "remset.h"
#include "sampling.h"
#include "scan.h"
#include "stress.h"
#include "thread.h"

/* A thread that needs a CallInfo receives several at once: 1 / CALLINFO_PART of the CallInfos that
   it has, at most MAX_CALLINFO_RUN. A larger MAX_CALLINFO_RUN or a smaller CALLINFO_PART means
   better locality of CallInfos in memory, but more unused ones. */
#define CALLINFO_PART	16u
#define MAX_CALLINFO_RUN	256u


GCObject *luaC_newobjdt (lua_State *L, int tt, size_t size, size_t offset) {
  global_State *g = G(L);
  luaN_Vec *v = &g->heap.gc.lists.threads.v;
  GCObject *o;
  lua_assert(tt == LUA_VTHREAD);
  luaN_stress(L);
  if (!luaN_reserve(g, v, 1)) {
    if (!g->gcstopem) luaN_emergency(L);
    if (!luaN_reserve(g, v, 1)) (void)luaN_unlimited(g), luaM_error(L);
  }
  o = cast(GCObject *, cast_charp(luaN_newin(L, &g->heap, size, tt)) + offset);
  /* The list has capacity: luaN_reserve has reserved it, and if a collection in luaN_newin shrinks
     the list, it leaves some. */
  v->a[v->n++] = o;
  o->marked = 0;
  o->tt = cast_byte(tt);
  gco2th(o)->stack.p = NULL;
  gco2th(o)->openupval = NULL;
  return o;
}


CallInfo *luaN_extended (lua_State *L) {
  global_State *g = G(L);
  /* lastchunk.c reads these fields of every CallInfo, and a C function does not set them. */
  L->ci->next->u.l.savedpc = NULL;
  L->ci->next->u.l.nextraargs = 0;
  luaN_recounted(L, obj2gco(L), (l_mem)luaN_round(sizeof(CallInfo)));
  /* Adds more CallInfos, except during a collection and while the state is created. */
  if (!g->gcstopem) {
    unsigned run = L->nci / CALLINFO_PART, i;
    CallInfo *first = L->ci->next, *last = first, *ci;
    if (run > MAX_CALLINFO_RUN) run = MAX_CALLINFO_RUN;
    g->gcstopem = 1;  /* no emergency collection for CallInfos that are not needed yet */
    for (i = 1; i < run && (ci = luaE_extendCI(L, 0)) != NULL; i++) {
      /* luaE_extendCI has inserted ci before the other CallInfos of this run. Moves ci after them:
         then deeper frames are at higher addresses, the direction in which the processor
         prefetches. */
      L->ci->next = first;
      first->previous = L->ci;
      ci->previous = last;
      ci->next = last->next;
      if (ci->next != NULL) ci->next->previous = ci;
      last = last->next = ci;
    }
    g->gcstopem = 0;
  }
  return L->ci->next;
}


void luaN_built (lua_State *L) {
  if (luaN_isold(L)) {
    luaN_recounted(L, obj2gco(L), (l_mem)luaN_round(luaN_stackbytes(L)));
    luaN_remember(L, obj2gco(L));
  }
}


int luaN_roomfor (lua_State *L, int size) {
  int room = L->stackroom;
  if (size <= room) return size;
  luaN_erase(L->stack_last.p + EXTRA_STACK, room - stacksize(L));  /* unused slots (T4) */
  room = (room < LUAI_MAXSTACK / 2) ? 2 * room : LUAI_MAXSTACK;
  return (room > size) ? room : size;
}


/* To be called when L's stack was moved (gc.h). Nothing may be allocated between the move and this
   call: the sample of the new stack's memory is postponed until luaN_takewaiting takes it here
   (S2). */
void luaN_moved (lua_State *L, int oldsize, int size) {
  L->stackroom = stacksize(L);
  L->stack_last.p = L->stack.p + size;
  if (size > oldsize)
    luaN_erase(L->stack.p + oldsize + EXTRA_STACK, size - oldsize);
  luaN_keepdirty(L);
  luaN_recounted(L, obj2gco(L), (l_mem)(L->stackroom - oldsize) * (l_mem)sizeof(StackValue));
  luaN_takewaiting(L);
}


void luaN_eraserest (lua_State *L) {
  luaN_erase(L->top.p, L->stack_last.p + EXTRA_STACK - L->top.p);
  G(L)->heap.starved = 0;
}


/* Returns 1 if the stack of th should be moved to a smaller block of memory. This is so if a slot
   of the block is unused and the block has at most LUAN_STRIDE slots, or if more than two thirds of
   the block are unused. */
static int isroomy (const lua_State *th) {
  int size = stacksize(th);
  return size < th->stackroom && (th->stackroom <= LUAN_STRIDE || size < th->stackroom / 3);
}


/* Frees every second unused CallInfo of L. Returns the cost (unit: the time to mark one byte). If a
   major collection is to continue its scan of L's stack at a freed CallInfo, makes it continue at
   one that is kept. */
static size_t freecalls (lua_State *L) {
  luaN_Mark *m = &G(L)->heap.gc.mark;
  CallInfo *ci = L->ci->next, *next;
  size_t n = 0;
  while (ci != NULL && (next = ci->next) != NULL) {
    if ((ci->next = next->next) != NULL) ci->next->previous = ci;
    if (m->ci == next && m->thread == L) m->ci = m->cached ? next->next : ci;
    L->nci--;
    luaN_release(L, next, sizeof(*next), LUAN_VSTACK);
    ci = ci->next;
    n += 2;
  }
  return n * sizeof(CallInfo);
}


size_t luaN_shrinkthread (lua_State *th, int all) {
  size_t cost = 0;
  if (all || !(th->marked & LUAN_LONG)) {
    int room = th->stackroom;
    unsigned n;
    /* if a third of the stack or more is in use, luaD_shrinkstack would change nothing */
    if (stacksize(th) / 3 > th->top.p - th->stack.p)
      luaD_shrinkstack(th);
    if (isroomy(th))
      luaD_reallocstack(th, stacksize(th), 0);
    if (th->stackroom < room)
      cost = (size_t)(room + th->stackroom) * sizeof(StackValue) / 2;
    do {
      n = th->nci;
      cost += freecalls(th);
    } while (all && th->nci < n);
  }
  th->marked &= (lu_byte)~LUAN_LONG;
  return cost;
}


void luaN_shrinkown (lua_State *L, int all) {
  luaN_shrinkthread(L, all);
  if (L != G(L)->mainthread) luaN_shrinkthread(G(L)->mainthread, all);
}


void luaN_endthread (lua_State *L, lua_State *th) {
  global_State *g = G(L);
  size_t n = luaN_stackbytes(th);
  UpVal *uv;
  while ((uv = th->openupval) != NULL) {
    th->openupval = uv->u.open.next;
    if (!luaN_white(g, obj2gco(uv))) {  /* marked: a live closure uses the upvalue */
      TValue *slot = &uv->u.value;
      setobj(L, slot, uv->v.p);
      uv->v.p = slot;
    }
  }
  luai_userstatefree(L, th);
  if (th->stack.p != NULL && n > LUAN_LARGE)
    luaN_ask(g, th->stack.p, n, 0);
}
