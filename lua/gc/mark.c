/* SPDX-License-Identifier: MIT */
/*
** Marking: gives an object the colour, its lines their marks, and traverses
** what it refers to, with an explicit stack.
**
** Two stacks: 'gray' for objects that were young, 'major' for old ones that a
** major collection reaches. A minor collection empties the first only; what it
** finds for the major one waits there. A stack that is full and cannot grow
** loses nothing: the object becomes pending (a bit for its granule in its
** block, or LUAN_PENDING when lua_Alloc gave it), and pending objects are
** looked for when the stacks are empty. Marking can thus never fail.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "lua.h"

#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"

#include "collector.h"

/* Slots of a table that a slice of marking looks at in one go. */
#define SLICE_SLOTS	2048u

/* Objects waiting for their finalizer that a slice marks in one go, and the cost of
   one. */
#define SLICE_FINALIZED	16u
#define FINALIZEDCOST	48u

/* Objects that are put in order (traverseinorder). */
#define FEW	8


/* {== one object ======================================================= */

void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (n <= LUAN_LARGE) {
    luaN_Block *b = luaN_blockof(&g->heap, p);
    unsigned i = luaN_lineof(b, p);
    unsigned end = luaN_lineof(b, (const char *)p + n - 1);
    lu_byte bit = luaN_bit(g->heap.gc.colour);
    for (; i <= end; i++) b->marks[i] |= bit;
  }
}


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
static void setpending (global_State *g, GCObject *o, int apart) {
  g->heap.gc.pending = 1;
  if (apart) o->marked |= LUAN_PENDING;
  else {
    luaN_Block *b = luaN_blockof(&g->heap, o);
    size_t i = luaN_granuleof(b, o);
    luaN_bits(b)[i / 64] |= UINT64_C(1) << (i % 64);
    b->pending = 1;
  }
}


/* Gives o, which has another colour, the colour, and stacks it. */
void luaN_mark_ (global_State *g, GCObject *o) {
  luaN_Gc *c = &g->heap.gc;
  int young = luaN_isyoung(o);
  int leaf = 0, apart = 0;
  const char *p = (const char *)o;
  size_t own, more = 0;  /* bytes of the object and of its vectors */
  o->marked = (lu_byte)((o->marked & ~LUAN_COLOURS) | c->colour);
  switch (o->tt) {
    case LUA_VSHRSTR:
      own = sizelstring(gco2ts(o)->shrlen);
      leaf = 1;
      break;
    case LUA_VLNGSTR:
      own = sizelstring(gco2ts(o)->u.lnglen);
      leaf = 1;
      break;
    case LUA_VTABLE:
      own = sizeof(Table);
      more = luaN_vectorbytes(gco2t(o));
      break;
    case LUA_VLCL:
      own = sizeLclosure(gco2lcl(o)->nupvalues);
      break;
    case LUA_VCCL:
      own = sizeCclosure(gco2ccl(o)->nupvalues);
      break;
    case LUA_VUPVAL:
      own = sizeof(UpVal);
      break;
    case LUA_VUSERDATA:
      own = luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
      apart = (own > LUAN_LARGE);
      break;
    case LUA_VPROTO:
      own = 0;  /* explicit memory */
      apart = 1;
      break;
    default:
      lua_assert(o->tt == LUA_VTHREAD);
      own = LUA_EXTRASPACE + sizeof(lua_State);
      more = luaN_threadbytes(gco2th(o));
      p -= LUA_EXTRASPACE;
      if (gco2th(o) == g->mainthread) {
        own = 0;
        apart = 1;
      }
      break;
  }
  if (own > 0) {
    luaN_marklines(g, p, own);
    more += luaN_round(own);
  }
  if (young) {
    o->marked |= LUAN_UNLOGGED;
    c->old += (l_mem)more;
    c->tenured += more;
  }
  if (c->marking) c->reached += (l_mem)more;
  if (!leaf && !luaN_push(g, young ? &c->gray : &c->major, o))
    setpending(g, o, apart);
}

/* }===================================================================== */


/* {== what an object refers to ========================================= */

/* An empty entry keeps its key's address only, for next. */
static void clearkey (Node *n) {
  if (keyiscollectable(n)) setdeadkey(n);
}


unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                             unsigned n) {
  unsigned asize = luaN_asize(t);
  unsigned end = asize + (unsigned)sizenode(t);
  unsigned stop = (n < end - i) ? i + n : end;
  if (i > end) return 0;
  if (i < asize) {
    const TValue *v = t->array + i;
    const TValue *last = t->array + (stop < asize ? stop : asize);
    for (; last - v >= 4; v += 4) {  /* numbers are passed over by fours */
      if (((rawtt(v) | rawtt(v + 1) | rawtt(v + 2) | rawtt(v + 3)) &
           BIT_ISCOLLECTABLE) == 0)
        continue;
      luaN_markvalue(g, v);
      luaN_markvalue(g, v + 1);
      luaN_markvalue(g, v + 2);
      luaN_markvalue(g, v + 3);
    }
    for (; v < last; v++) luaN_markvalue(g, v);
    i = (stop < asize) ? stop : asize;
  }
  if (i < stop) {
    Node *node = gnode(t, i - asize), *last = gnode(t, stop - asize);
    for (; node < last; node++) {
      if (isempty(gval(node))) clearkey(node);
      else {
        if (keyiscollectable(node)) luaN_mark(g, gckey(node));
        luaN_markvalue(g, gval(node));
      }
    }
  }
  return (stop < end) ? stop : 0;
}


static size_t traversetable (global_State *g, Table *t) {
  int kind = luaN_weakness(g, t);
  luaN_markN(g, t->metatable);
  luaN_markvectors(g, t);
  if (kind == LUAN_STRONG || !luaN_meetweak(g, t, kind))
    luaN_traverseslots(g, t, 0, ~0u);
  return sizeof(Table) + (size_t)t->alimit * sizeof(TValue) +
         (size_t)sizenode(t) * sizeof(Node);
}


static size_t traverseproto (global_State *g, Proto *f) {
  int i;
  luaN_markN(g, f->source);
  luaN_markN(g, f->name);
  for (i = 0; i < f->sizek; i++) luaN_markvalue(g, &f->k[i]);
  for (i = 0; i < f->sizeupvalues; i++) luaN_markN(g, f->upvalues[i].name);
  for (i = 0; i < f->sizep; i++) luaN_markN(g, f->p[i]);
  for (i = 0; i < f->sizelocvars; i++) luaN_markN(g, f->locvars[i].varname);
  return sizeof(Proto) + (size_t)(f->sizek + f->sizelocvars) * sizeof(TValue);
}


size_t luaN_traverse (global_State *g, GCObject *o) {
  int i;
  switch (o->tt) {
    case LUA_VTABLE: return traversetable(g, gco2t(o));
    case LUA_VLCL: {
      LClosure *cl = gco2lcl(o);
      luaN_markN(g, cl->p);
      for (i = 0; i < cl->nupvalues; i++) luaN_markN(g, cl->upvals[i]);
      return sizeLclosure(cl->nupvalues);
    }
    case LUA_VUPVAL:  /* open or closed, and whoever its thread is */
      luaN_markvalue(g, gco2upv(o)->v.p);
      return sizeof(UpVal);
    case LUA_VCCL: {
      CClosure *cl = gco2ccl(o);
      for (i = 0; i < cl->nupvalues; i++) luaN_markvalue(g, &cl->upvalue[i]);
      return sizeCclosure(cl->nupvalues);
    }
    case LUA_VUSERDATA: {
      Udata *u = gco2u(o);
      luaN_markN(g, u->metatable);
      for (i = 0; i < u->nuvalue; i++) luaN_markvalue(g, &u->uv[i].uv);
      return sizeof(Udata) + u->nuvalue * sizeof(TValue);
    }
    case LUA_VPROTO: return traverseproto(g, gco2p(o));
    default: return luaN_scanthread(g, gco2th(o), !g->heap.gc.minor);
  }
}

/* }===================================================================== */


/* {== until nothing is left ============================================ */

/* Traverses a pending object, whichever collection left it. */
static void again (global_State *g, GCObject *o) {
  if (o->tt == LUA_VTHREAD) luaN_scanthread(g, gco2th(o), 1);
  else luaN_traverse(g, o);
}


static void traversepending (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Chunk *k;
  size_t i;
  c->pending = 0;
  for (k = g->heap.chunks; k != NULL; k = k->next) {
    unsigned n;
    for (n = 0; n < k->nblocks; n++) {
      luaN_Block *b = luaN_blockat(k, n);
      uint64_t *bits = luaN_bits(b);
      if (!b->pending) continue;
      b->pending = 0;
      for (i = 0; i < b->nlines / 8; i++) {
        while (bits[i] != 0) {
          unsigned bit = (unsigned)__builtin_ctzll(bits[i]);
          bits[i] &= bits[i] - 1;
          again(g, (GCObject *)((char *)b + (i * 64 + bit) * LUAN_GRANULE));
        }
      }
    }
  }
  for (i = 0; i <= c->large.v.n; i++) {
    GCObject *o = (i < c->large.v.n) ? (GCObject *)c->large.v.a[i]
                                     : obj2gco(g->mainthread);
    if (o != NULL && (o->marked & LUAN_PENDING)) {  /* G7 */
      o->marked &= (lu_byte)~LUAN_PENDING;
      again(g, o);
    }
  }
}


/*
** Traverses o, an old object. Of the few that this stacks, the first in memory is
** to be the next: what a program has made one after the other lies in that order,
** and the cache runs ahead of whoever reads on, while the order of a table's slots
** is that of hashes. (What is young lies in the cache anyway.)
*/
static size_t traverseinorder (global_State *g, GCObject *o) {
  luaN_Vec *v = &g->heap.gc.major;
  size_t from = v->n, i, j;
  size_t cost = luaN_traverse(g, o);
  if (v->n - from <= FEW) {
    for (i = from + 1; i < v->n; i++) {
      void *p = v->a[i];
      for (j = i; j > from && v->a[j - 1] < p; j--) v->a[j] = v->a[j - 1];
      v->a[j] = p;
    }
  }
  return cost;
}


void luaN_drain (global_State *g, int all) {
  luaN_Gc *c = &g->heap.gc;
  lua_assert(!all || (c->table == NULL && c->thread == NULL));  /* slices have finished it */
  for (;;) {
    if (c->gray.n > 0) luaN_traverse(g, (GCObject *)c->gray.a[--c->gray.n]);
    else if (all && c->major.n > 0)
      traverseinorder(g, (GCObject *)c->major.a[--c->major.n]);
    else if (c->pending) traversepending(g);
    else return;
  }
}


/* CallInfos, or slots of a stack, that a slice looks at in one go: what has more is a
   deep thread. */
static int deepness (const global_State *g) {
  (void)g;  /* in a release build */
  return luaN_slicestress(&g->heap.gc) != 0 ? 8 : (int)SLICE_SLOTS;
}


static int isdeep (global_State *g, const lua_State *th) {
  int most = deepness(g);
  return th->stack.p != NULL &&
         (th->top.p - th->stack.p > most || (int)th->nci > most);
}


int luaN_markslice (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  size_t done = 0;
  lua_assert(c->gray.n == 0);
  while (done < bytes) {
    if (c->table != NULL) {
      c->index = luaN_traverseslots(g, c->table, c->index, SLICE_SLOTS);
      if (c->index == 0) c->table = NULL;
      done += SLICE_SLOTS * sizeof(TValue);
    }
    else if (c->thread != NULL) {
      luaN_threadslice(g, deepness(g));
      done += SLICE_SLOTS * sizeof(TValue);
    }
    else if (c->major.n > 0) {
      GCObject *o = (GCObject *)c->major.a[--c->major.n];
      if (o->tt == LUA_VTABLE &&
          gco2t(o)->alimit + (unsigned)sizenode(gco2t(o)) > SLICE_SLOTS &&
          luaN_weakness(g, gco2t(o)) == LUAN_STRONG) {
        luaN_markN(g, gco2t(o)->metatable);
        luaN_markvectors(g, gco2t(o));
        c->table = gco2t(o);
        c->index = 0;
      }
      else if (o->tt == LUA_VTHREAD && isdeep(g, gco2th(o)))
        luaN_beginthread(g, gco2th(o));
      else done += traverseinorder(g, o);
    }
    else if (luaN_markfinalized(g, SLICE_FINALIZED) > 0)
      done += SLICE_FINALIZED * FINALIZEDCOST;
    else return 1;  /* what is pending is left to luaN_drain */
  }
  return 0;
}


/* Objects that wait for their finalizer are roots, too: none is young, and major
   collections come to them in slices (luaN_markfinalized). */
void luaN_markroots (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  if (luaN_hascolour(g->mainthread, c->colour))  /* it has no barrier */
    luaN_scanthread(g, g->mainthread, 0);
  else luaN_mark(g, obj2gco(g->mainthread));
  luaN_mark(g, obj2gco(L));
  luaN_markN(g, g->heap.pinned);
  luaN_markvalue(g, &g->l_registry);
  for (i = 0; i < LUA_NUMTYPES; i++) luaN_markN(g, g->mt[i]);
  for (; c->fixedseen < c->fixed.n; c->fixedseen++)  /* the others have it */
    luaN_mark(g, (GCObject *)c->fixed.a[c->fixedseen]);
}

/* }===================================================================== */
