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

/* Cached CallInfos that one slice looks at. */
#define SLICE_CALLINFOS	2048u

/* ... and slices at once for a thread that runs. */
#define MAX_OWN_SLICES	8

/* A thread gets CallInfos in runs, of such a part of those it has. */
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


/* Each CallInfo of a run was put in front of the one made before it. Turns the first n behind the
   frame that runs about: deeper frames lie behind in memory, where the processor fetches
   ahead. */
static void inorder (lua_State *L, unsigned n) {
  CallInfo *last = L->ci->next, *ci = last, *rest = NULL;
  while (n-- > 0) {
    CallInfo *next = ci->next;
    ci->next = rest;
    rest = ci;
    ci = next;
  }
  last->next = ci;
  if (ci != NULL) ci->previous = last;
  L->ci->next = rest;
  for (ci = L->ci; ci != last; ci = ci->next) ci->next->previous = ci;
}


CallInfo *luaN_extended (lua_State *L) {
  global_State *g = G(L);
  L->ci->next->u.l.savedpc = NULL;  /* of a C function, too, lastchunk.c asks for these */
  L->ci->next->u.l.nextraargs = 0;
  luaN_recounted(L, obj2gco(L), (l_mem)luaN_round(sizeof(CallInfo)));
  if (!g->gcstopem) {  /* L gets no more than this one, else */
    unsigned run = L->nci / CALLINFO_PART, i;
    if (run > MAX_CALLINFO_RUN) run = MAX_CALLINFO_RUN;
    g->gcstopem = 1;  /* nothing is collected for what is not needed yet */
    for (i = 1; i < run && luaE_extendCI(L, 0) != NULL; i++) {}
    g->gcstopem = 0;
    if (i > 1) inorder(L, i);
  }
  return L->ci->next;
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


int luaN_roomfor (lua_State *L, int size) {
  int room = L->stackroom;
  if (size <= room) return size;
  luaN_erase(L->stack_last.p + EXTRA_STACK, room - stacksize(L));  /* T4 */
  room = (room < LUAI_MAXSTACK / 2) ? 2 * room : LUAI_MAXSTACK;
  return (room > size) ? room : size;
}


/* Nothing is allocated between the move and this (S2). */
void luaN_moved (lua_State *L, int oldsize, int size) {
  L->stackroom = stacksize(L);
  L->stack_last.p = L->stack.p + size;
  if (size > oldsize)
    luaN_erase(L->stack.p + oldsize + EXTRA_STACK, size - oldsize);
  if (L->marked & LUAN_CLEAN) luaN_dirtythread(L);
  luaN_recounted(L, obj2gco(L),
                 (l_mem)(L->stackroom - oldsize) * (l_mem)sizeof(StackValue));
  luaN_takewaiting(L);
}


void luaN_eraserest (lua_State *L) {
  luaN_erase(L->top.p, L->stack_last.p + EXTRA_STACK - L->top.p);
  G(L)->heap.starved = 0;
}


/* Is the block so much longer than the stack that the rest of it should go back? */
static int isroomy (const lua_State *th) {
  int size = stacksize(th);
  return size < th->stackroom && (th->stackroom <= LUAN_STRIDE || size < th->stackroom / 3);
}


/* Frees every other one of the next SLICE_CALLINFOS CallInfos that are not in use, but for the
   first. Returns how many it has looked at. A major collection that has come to one of them
   goes on with the next in its way: were it begun anew, a deep stack would never be marked. */
static unsigned freecalls (lua_State *L) {
  luaN_Mark *m = &G(L)->heap.gc.mark;
  CallInfo *ci = L->ci->next, *next;
  unsigned n = 0;
  while (ci != NULL && n < SLICE_CALLINFOS && (next = ci->next) != NULL) {
    if ((ci->next = next->next) != NULL) ci->next->previous = ci;
    if (m->ci == next && m->thread == L) m->ci = m->cached ? next->next : ci;
    L->nci--;
    luaN_release(L, next, sizeof(*next), LUAN_VSTACK);
    ci = ci->next;
    n += 2;
  }
  return n;
}


size_t luaN_shrinkcalls (lua_State *th, int *more) {
  unsigned n = freecalls(th);
  *more = (n >= SLICE_CALLINFOS);
  return n * sizeof(CallInfo);
}


size_t luaN_shrinkthread (lua_State *th, int all, int *more) {
  int keep = (th->marked & LUAN_LONG) && !all;
  size_t cost = 0;
  *more = 0;
  if (!keep) {
    int room = th->stackroom;
    unsigned n;
    if (stacksize(th) / 3 > th->top.p - th->stack.p)  /* else it looks at all frames */
      luaD_shrinkstack(th);                           /* and finds it used enough */
    if (isroomy(th))
      luaD_reallocstack(th, stacksize(th), 0);
    if (th->stackroom < room)
      cost = (size_t)(room + th->stackroom) * sizeof(StackValue) / 2;
    if (!all) cost += luaN_shrinkcalls(th, more);
    else {
      if (G(th)->heap.gc.mark.thread == th) luaN_beginthread(G(th), th);  /* once more */
      do {  /* half of the CallInfos that are not in use, in the end all but one */
        n = th->nci;
        luaE_shrinkCI(th);
      } while (th->nci < n);
    }
  }
  th->marked &= (lu_byte)~LUAN_LONG;
  return cost;
}


void luaN_shrinkown (lua_State *th, int all) {
  int more, i;
  luaN_shrinkthread(th, all, &more);
  for (i = 1; more && i < MAX_OWN_SLICES; i++) luaN_shrinkcalls(th, &more);
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
