/* SPDX-License-Identifier: MIT */
/*
** Marking one object (mark.h).
**
** Two mark stacks: one for objects that were young, one for old ones that a major
** collection reaches. A minor collection empties the first only; what it
** finds for the major one waits there. A stack that is full and cannot grow
** loses nothing: the object becomes pending (a bit for its granule in its
** block, or LUAN_PENDING when it is listed), and pending objects are
** looked for when the stacks are empty. Marking can thus never fail.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lfunc.h"
#include "lgc.h"
#include "lstring.h"
#include "ltable.h"

#include "ageing.h"
#include "mark.h"
#include "vec.h"


static size_t arraybytes (const Table *t) {
  return luaN_asize(t) * sizeof(TValue);
}


static size_t nodebytes (const Table *t) {
  return isdummy(t) ? 0 : (size_t)sizenode(t) * sizeof(Node);
}


size_t luaN_vectorbytes (const Table *t) {
  return luaN_round(arraybytes(t)) + luaN_round(nodebytes(t));
}


void luaN_markvectors (global_State *g, const Table *t) {
  size_t n;
  if ((n = arraybytes(t)) > 0) luaN_marklines(g, t->array, n);
  if ((n = nodebytes(t)) > 0) luaN_marklines(g, t->node, n);
}


size_t luaN_threadbytes (const lua_State *th) {
  size_t n = th->nci * luaN_round(sizeof(CallInfo));
  if (th->stack.p != NULL)
    n += luaN_round(luaN_stackbytes(th));
  return n;
}


/* o was marked but no stack has room for it. */
static void setpending (global_State *g, GCObject *o, int large) {
  g->heap.gc.mark.pending = 1;
  if (large) o->marked |= LUAN_PENDING;
  else {
    luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    size_t i = luaN_granuleof(b, o);
    luaN_bits(b)[i / 64] |= UINT64_C(1) << (i % 64);
    b->pending = 1;
  }
}


/* o, of so many bytes with its vectors, has got the epoch: it is old from here on. */
static inline void count (luaN_Gc *c, GCObject *o, int young, size_t bytes) {
  if (young) {
    o->marked |= LUAN_UNLOGGED;
    c->bytes.old += (l_mem)bytes;
    c->bytes.tenured += bytes;
  }
  if (c->mark.major) c->mark.reached += (l_mem)bytes;
}


/* luaN_mark_ of any object, however the block that it lies in is found. */
static __attribute__((noinline)) void markany (global_State *g, GCObject *o) {
  luaN_Gc *c = &g->heap.gc;
  int young = luaN_isyoung(o);
  int leaf = 0, large = 0;
  const char *p = (const char *)o;
  size_t own, more = 0;  /* bytes of the object and of its vectors */
  if (young && (o->tt == LUA_VLNGSTR || o->tt == LUA_VUSERDATA) && luaN_staysyoung(g, o)) {
    if (o->tt == LUA_VUSERDATA) luaN_markN(g, gco2u(o)->metatable);
    return;
  }
  o->marked = (lu_byte)((o->marked & ~LUAN_EPOCH) | c->mark.epoch);
  switch (o->tt) {
    case LUA_VSHRSTR:
      own = sizelstring(gco2ts(o)->shrlen);
      leaf = 1;
      break;
    case LUA_VLNGSTR:
      own = sizelstring(gco2ts(o)->u.lnglen);
      large = (own > LUAN_LARGETEXT);
      o->marked &= (lu_byte)~(LUAN_MET | LUAN_AGED | LUAN_TWICE);
      leaf = 1;
      break;
    case LUA_VTABLE:
      own = sizeof(Table);
      more = luaN_vectorbytes(gco2t(o));
      leaf = (more == 0 && gco2t(o)->metatable == NULL && !c->weak.chasing);
      break;
    case LUA_VLCL:
      own = sizeLclosure(gco2lcl(o)->nupvalues);
      break;
    case LUA_VCCL:
      own = sizeCclosure(gco2ccl(o)->nupvalues);
      break;
    case LUA_VUPVAL: {  /* what an open one refers to changes without a barrier */
      const TValue *v = gco2upv(o)->v.p;
      own = sizeof(UpVal);
      leaf = !upisopen(gco2upv(o)) &&
             (!iscollectable(v) || luaN_hasepoch(gcvalue(v), c->mark.epoch));
      break;
    }
    case LUA_VUSERDATA:
      own = luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
      large = (own > LUAN_LARGETEXT);
      if (young) o->marked &= (lu_byte)~LUAN_MET;
      if (young && large) luaN_setage(o, 0);
      break;
    case LUA_VPROTO:
      own = 0;  /* explicit memory */
      large = 1;
      break;
    default:
      lua_assert(o->tt == LUA_VTHREAD);
      own = LUA_EXTRASPACE + sizeof(lua_State);
      more = luaN_threadbytes(gco2th(o));
      p -= LUA_EXTRASPACE;
      if (gco2th(o) == g->mainthread) {
        own = 0;
        large = 1;
      }
      break;
  }
  if (own > 0) {
    if (!large) luaN_marklines(g, p, own);
    more += luaN_round(own);
  }
  count(c, o, young, more);
  if (young && large && own > 0) c->bytes.texts += more;
  if (!leaf && !luaN_push(g, young ? &c->mark.young : &c->mark.old, o))
    setpending(g, o, large);
}


/* The block of p, if it is found without a call; or NULL. */
static inline luaN_Block *nearblock (const luaN_Blocks *h, const void *p) {
  luaN_Block *b = (luaN_Block *)((uintptr_t)p & ~(uintptr_t)(LUAN_BLOCK - 1));
  if (l_unlikely((uintptr_t)p - h->low < h->span)) {
    b = h->recent;
    if ((uintptr_t)p - (uintptr_t)b >= luaN_bytesof(b)) return NULL;
  }
  return b;
}


/* Gives o, which has another epoch, the new one, and stacks it. What there is most of is done
   here, where nothing is called on the way. */
void luaN_mark_ (global_State *g, GCObject *o) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Block *b = nearblock(&g->heap.blocks, o);
  int young = luaN_isyoung(o), leaf = 0;
  luaN_Vec *v = young ? &c->mark.young : &c->mark.old;
  size_t own, more;
  if (o->tt == LUA_VTABLE) {
    const Table *t = gco2t(o);
    own = sizeof(Table);
    more = own + t->alimit * sizeof(TValue) + nodebytes(t);
    if (!isrealasize(t)) b = NULL;
    leaf = (more == own && t->metatable == NULL && !c->weak.chasing);
  }
  else if (o->tt == LUA_VSHRSTR) {
    own = sizelstring(gco2ts(o)->shrlen);
    more = luaN_round(own);
    leaf = 1;
  }
  else if (o->tt == LUA_VLCL) more = own = sizeLclosure(gco2lcl(o)->nupvalues);
  else if (o->tt == LUA_VCCL) more = own = sizeCclosure(gco2ccl(o)->nupvalues);
  else {
    own = more = 0;
    b = NULL;
  }
  if (l_unlikely(b == NULL || v->n == v->size)) {
    markany(g, o);
    return;
  }
  o->marked = (lu_byte)((o->marked & ~LUAN_EPOCH) | c->mark.epoch);
  luaN_marklinesof(g, b, o, own);
  count(c, o, young, more);
  if (!leaf) v->a[v->n++] = o;
}


unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                             unsigned n) {
  unsigned asize = luaN_asize(t);
  unsigned end = asize + (unsigned)sizenode(t);
  unsigned stop = (n < end - i) ? i + n : end;
  if (i > end) return 0;
  if (i < asize) {
    unsigned last = (stop < asize) ? stop : asize;
    luaN_markarray(g, t->array + i, t->array + last);
    i = last;
  }
  if (i < stop) luaN_marknodes(g, gnode(t, i - asize), gnode(t, stop - asize));
  return (stop < end) ? stop : 0;
}


void luaN_resurrect (global_State *g, GCObject *o) {
  luaN_mark(g, o);
}
