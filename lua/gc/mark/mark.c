/* SPDX-License-Identifier: MIT */
/*
** Marking of one object (mark.h).
**
** There are two mark stacks: mark.young for objects that were young when they were marked, and
** mark.old for old objects that a major collection has reached. A minor collection empties only
** mark.young. If it reaches old objects while a major collection is marking, they stay on mark.old,
** for the slices of the major collection.
**
** Marking never fails. If a mark stack is full and cannot grow, the object becomes pending: it must
** still be traversed. This is recorded in a bit: LUAN_PENDING in the header of the main thread or
** of an object in lists.large; for any other object, the bit of its first granule (8 bytes) in its
** block. When the stacks are empty, luaN_drain searches for pending objects.
*/

#include "lfunc.h"
#include "lgc.h"

#include "ageing.h"
#include "mark.h"
#include "optional.h"


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
  luaN_marklines(g, t->array, arraybytes(t));
  luaN_marklines(g, t->node, nodebytes(t));
}


size_t luaN_threadbytes (const lua_State *th) {
  size_t n = th->nci * luaN_round(sizeof(CallInfo));
  if (th->stack.p != NULL)
    n += luaN_round(luaN_stackbytes(th));
  return n;
}


/* Records that the marked object o must still be traversed, because its mark stack is full (o
   becomes pending). large: 1 if o is in lists.large or is the main thread. */
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


/*
** Limits the log, a list of marked objects that may be weak keys (ahead.h). The atomic step looks
** up each logged object in every weak table. Without a log, it visits the whole list of entries
** with unmarked keys instead.
**
** So logging stops when the lookups (logged objects times tables) exceed LUAN_CACHED plus 1 /
** LOGGED_PART of the words in that list, because a visit of the whole list is cheaper then.
*/
#define LOGGED_PART	4u

/* Appends the old object o, which was just marked, to the log of possible weak keys (ahead.h),
   unless its type cannot be a weak key. Stops logging if the log is too long (LOGGED_PART) or
   cannot grow. */
static __attribute__((noinline)) void logmarked (global_State *g, GCObject *o) {
  luaN_Weak *w = &g->heap.gc.weak;
  luaN_Vec *d = &w->doubtful[LUAN_DOUBTKEYS];
  if (novariant(o->tt) == LUA_TSTRING || o->tt == LUA_VUPVAL || o->tt == LUA_VPROTO) return;
  w->logging = ((d->n - w->visited) * (w->inmajor.n + 1) <=
                  LUAN_CACHED + d->n / LOGGED_PART &&
                d->n < UINT_MAX && luaN_push(g, d, luaN_logged(o)));
}


/* Adds the object o, which was just marked, to the counts of old and marked bytes.
   young  1 if o was young before, so that marking has tenured it
   bytes  size of o and its array part, hash part or stack

   If o was old and weak.logging is 1, logs o as a possible weak key. */
static inline void mark_count (global_State *g, GCObject *o, int young, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  if (young) {
    o->marked |= LUAN_UNLOGGED;
    c->bytes.old += (l_mem)bytes;
    c->bytes.tenured += bytes;
  }
  else if (l_unlikely(c->weak.logging)) logmarked(g, o);
  if (c->mark.major) c->mark.reached += (l_mem)bytes;
}


/*
** Describes the memory of an object that is being marked.
** own    bytes of the object itself, at p; 0 for the main thread and for prototypes, whose bytes
**        are counted as explicit memory (freed by the core's own code)
** more   bytes of its array part, hash part, stack or CallInfos
** leaf   1 if it need not be traversed
** large  1 if it is in lists.large or is the main thread, so that marking it marks no lines for the
**        object itself
*/
typedef struct Extent {
  const char *p;
  size_t own, more;
  int leaf, large;
} Extent;


/*
** Returns the memory of o, which is being marked; 'young' is 1 if o was young before. Also
** completes the marking of o:
** - if o is a short string, counts it in strings.seen
** - if o is a long string, or a userdata that was young, clears LUAN_MET and its survivor age
** - if o is a userdata that need not be traversed, marks its metatable
*/
static inline Extent extentof (global_State *g, GCObject *o, int young) {
  luaN_Gc *c = &g->heap.gc;
  Extent x = {(const char *)o, 0, 0, 0, 0};
  switch (o->tt) {
    case LUA_VSHRSTR:
      x.own = sizelstring(gco2ts(o)->shrlen);
      c->strings.seen++;
      x.leaf = 1;
      break;
    case LUA_VLNGSTR:
      x.own = sizelstring(gco2ts(o)->u.lnglen);
      x.large = (x.own > LUAN_LARGETEXT);
      o->marked &= (lu_byte)~(LUAN_MET | LUAN_AGED | LUAN_TWICE);
      x.leaf = 1;
      break;
    case LUA_VTABLE:
      x.own = sizeof(Table);
      x.more = luaN_vectorbytes(gco2t(o));
      x.leaf = (x.more == 0 && gco2t(o)->metatable == NULL && !c->weak.chasing);
      break;
    case LUA_VLCL:
      x.own = sizeLclosure(gco2lcl(o)->nupvalues);
      break;
    case LUA_VCCL:
      x.own = sizeCclosure(gco2ccl(o)->nupvalues);
      break;
    case LUA_VUPVAL: {  /* if open, must be traversed: a store into its stack slot has no barrier */
      const TValue *v = gco2upv(o)->v.p;
      x.own = sizeof(UpVal);
      x.leaf = !upisopen(gco2upv(o)) &&
               (!iscollectable(v) || luaN_hasepoch(gcvalue(v), c->mark.epoch));
      break;
    }
    case LUA_VUSERDATA:
      x.own = luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len);
      x.large = (x.own > LUAN_LARGETEXT);
      x.leaf = (gco2u(o)->nuvalue == 0 && !c->weak.chasing);
      if (x.leaf) luaN_markN(g, gco2u(o)->metatable);
      if (young) {
        o->marked &= (lu_byte)~LUAN_MET;
        luaN_setage(o, 0);
      }
      break;
    case LUA_VPROTO:
      x.large = 1;  /* in lists.large, and its memory is not in lines */
      break;
    default:
      lua_assert(o->tt == LUA_VTHREAD);
      x.more = luaN_threadbytes(gco2th(o));
      x.p -= LUA_EXTRASPACE;
      x.large = (gco2th(o) == g->mainthread);
      if (!x.large) x.own = LUA_EXTRASPACE + sizeof(lua_State);
      break;
  }
  return x;
}


/* Marks o, of any type and in any block, or leaves o young and only records that o is alive
   (ageing.h). Slower than markin and markother, because this function may search for the block. */
static __attribute__((noinline)) void markany (global_State *g, GCObject *o) {
  luaN_Gc *c = &g->heap.gc;
  int young = luaN_isyoung(o);
  Extent x;
  if (young && (o->tt == LUA_VLNGSTR || o->tt == LUA_VUSERDATA) && luaN_staysyoung(g, o)) {
    if (o->tt == LUA_VUSERDATA) luaN_markN(g, gco2u(o)->metatable);
    return;
  }
  o->marked = (lu_byte)((o->marked & ~LUAN_EPOCH) | c->mark.epoch);
  x = extentof(g, o, young);
  if (x.own > 0) {
    if (!x.large) luaN_marklines(g, x.p, x.own);
    x.more += luaN_round(x.own);
  }
  mark_count(g, o, young, x.more);
  if (young && x.large && x.own > 0) c->bytes.texts += x.more;
  if (!x.leaf && !luaN_push(g, young ? &c->mark.young : &c->mark.old, o))
    setpending(g, o, x.large);
}


/* Returns the block that contains p. Returns NULL if only a search can find it: p is in the address
   range of small blocks, but not in the block that the cache (luaN_recent) has for p. */
static inline luaN_Block *nearblock (const luaN_Blocks *h, const void *p) {
  luaN_Block *b = (luaN_Block *)((uintptr_t)p & ~(uintptr_t)(LUAN_BLOCK - 1));
  if (l_unlikely((uintptr_t)p - h->low < h->span)) {
    b = luaN_recent(h, p);
    if ((uintptr_t)p - (uintptr_t)b >= luaN_bytesof(b)) return NULL;
  }
  return b;
}


/* Marks o, which is in block b, and the lines of o, but not the lines of its array part and hash
   part. Does not push o. own: bytes of o itself. bytes: bytes of o with these parts. */
static inline void markin (global_State *g, luaN_Block *b, GCObject *o, size_t own, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  int young = luaN_isyoung(o);
  o->marked = (lu_byte)((o->marked & ~LUAN_EPOCH) | c->mark.epoch);
  luaN_marklinesof(g, b, o, own);
  mark_count(g, o, young, bytes);
}


/* Marks o, which is in block b, and pushes it on mark.young or mark.old. own: bytes of o itself.
   bytes: bytes of o with its array part and hash part. */
static inline void markstacked (global_State *g, luaN_Block *b, GCObject *o, size_t own,
                                size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Vec *v = luaN_isyoung(o) ? &c->mark.young : &c->mark.old;
  if (l_unlikely(v->n == v->size)) {
    markany(g, o);
    return;
  }
  markin(g, b, o, own, bytes);
  v->a[v->n++] = o;
}


/* Marks o, which is in block b and is not a short string. Not inlined, to keep the path for short
   strings short. */
static __attribute__((noinline)) void markother (global_State *g, luaN_Block *b, GCObject *o) {
  if (o->tt == LUA_VTABLE) {
    const Table *t = gco2t(o);
    size_t own = sizeof(Table), bytes = own + t->alimit * sizeof(TValue) + nodebytes(t);
    if (l_unlikely(!isrealasize(t))) markany(g, o);
    else if (bytes == own && t->metatable == NULL && !g->heap.gc.weak.chasing)
      markin(g, b, o, own, bytes);
    else markstacked(g, b, o, own, bytes);
  }
  else if (o->tt == LUA_VLCL) {
    size_t own = sizeLclosure(gco2lcl(o)->nupvalues);
    markstacked(g, b, o, own, own);
  }
  else if (o->tt == LUA_VCCL) {
    size_t own = sizeCclosure(gco2ccl(o)->nupvalues);
    markstacked(g, b, o, own, own);
  }
  else markany(g, o);
}


/* Marks o, an unmarked object of any type (mark.h). The code for short strings is inline, because
   they are the most frequent objects. */
void luaN_mark_ (global_State *g, GCObject *o) {
  luaN_Block *b = nearblock(&g->heap.blocks, o);
  if (l_unlikely(b == NULL)) markany(g, o);
  else if (o->tt == LUA_VSHRSTR) {
    size_t own = sizelstring(gco2ts(o)->shrlen);
    g->heap.gc.strings.seen++;
    markin(g, b, o, own, luaN_round(own));
  }
  else markother(g, b, o);
}


/* {== tables that are marked recursively ================================ */

/*
** Recursive marking: marks a small table together with its contents, without pushing it on a mark
** stack. Reason: a large table may refer to very many small tables. If all of them were pushed, the
** first ones would have left the processor's cache before they are popped.
**
** The small table cannot be weak. Apart from its metatable, it refers only to
** - short strings and marked objects
** - inner tables, as values: small tables that cannot be weak and refer, apart from their
**   metatables, only to short strings and marked objects
*/

/* A table is marked recursively only if its array part has at most 2^MAX_SETTLEDLOG slots, and its
   hash part at most 2^MAX_SETTLEDLOG nodes. */
#define MAX_SETTLEDLOG	3

/* Limits wasted attempts to mark small tables recursively (without a mark stack). An attempt fails
   if the small table refers to an object that must be pushed; then the small table is pushed, too,
   and its slots are visited twice. So the slots of a large table are visited in runs.
   RUN         number of slots in a run
   MAX_FAILED  after this number of failed attempts in a run, all further small tables of the run
               are pushed without an attempt */
#define MAX_FAILED	2
#define RUN		128

static int mark_settle (global_State *g, Table *t, int inner);


/*
** Tries to mark o without a push on a mark stack. Returns 1 if o is marked then:
** - o was marked before,
** - or o is a short string,
** - or 'inner' is 1, and o is a small table that could be marked with its contents.
**
** Otherwise returns 0. If o is a table and 'inner' is 1, it is marked and pushed then; any other o
** is still unmarked.
*/
static inline int mark_ends (global_State *g, GCObject *o, int inner) {
  if (luaN_hasepoch(o, g->heap.gc.mark.epoch)) return 1;
  if (o->tt == LUA_VTABLE && inner) return mark_settle(g, gco2t(o), 0);
  if (o->tt != LUA_VSHRSTR) return 0;
  luaN_mark_(g, o);
  return 1;
}


/* Marks the keys and values of t without pushing them, and returns 1. Returns 0 as soon as it finds
   an object that must be pushed, or an empty node with an object as its key: only a traversal makes
   such a key dead. inner: 1 if tables among the values may be marked recursively. */
static int endsall (global_State *g, const Table *t, int inner) {
  const TValue *v = t->array, *last = v + t->alimit;
  const Node *n = gnode(t, 0), *end = n + sizenode(t);
  for (; v < last; v++)
    if (iscollectable(v) && !mark_ends(g, gcvalue(v), inner)) return 0;
  for (; n < end; n++) {
    if (keyiscollectable(n) && (isempty(gval(n)) || !mark_ends(g, gckey(n), 0))) return 0;
    if (iscollectable(gval(n)) && !mark_ends(g, gcvalue(gval(n)), inner)) return 0;
  }
  return 1;
}


/* Marks t with its contents, without pushing t, and returns 1. If that is impossible, marks and
   pushes t, and returns 0. inner: 1 if tables among its values may be marked recursively, too. */
static __attribute__((noinline)) int mark_settle (global_State *g, Table *t, int inner) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Block *b = nearblock(&g->heap.blocks, t);
  Table *mt = t->metatable;
  int young = luaN_isyoung(t);
  size_t array = t->alimit * sizeof(TValue), nodes = nodebytes(t);
  if (b == NULL || t->alimit > 1u << MAX_SETTLEDLOG || t->lsizenode > MAX_SETTLEDLOG ||
      !isrealasize(t) || (mt != NULL && !(mt->flags & (1u << TM_MODE)))) {  /* mt may have __mode */
    luaN_mark_(g, obj2gco(t));
    return 0;
  }
  t->marked = (lu_byte)((t->marked & ~LUAN_EPOCH) | c->mark.epoch);
  luaN_marklinesof(g, b, t, sizeof(Table));
  mark_count(g, obj2gco(t), young, sizeof(Table) + array + nodes);
  luaN_markN(g, mt);
  if (endsall(g, t, inner)) {
    luaN_marklines(g, t->array, array);
    luaN_marklines(g, t->node, nodes);
    c->mark.settled += (unsigned)(sizeof(Table) + array + (size_t)sizenode(t) * sizeof(Node));
    return 1;
  }
  if (!luaN_push(g, young ? &c->mark.young : &c->mark.old, t)) setpending(g, obj2gco(t), 0);
  return 0;
}


/* If v is an object, marks it unless it is marked. Tries to mark a table recursively (without a
   mark stack). Returns 1 if v is a table for which that failed, so that it was pushed; else 0. */
static inline int settlevalue (global_State *g, const TValue *v) {
  if (!iscollectable(v) || luaN_hasepoch(gcvalue(v), g->heap.gc.mark.epoch)) return 0;
  if (luaN_has(LUAN_EAGERTABLES) && ttistable(v)) return !mark_settle(g, hvalue(v), 1);
  luaN_mark_(g, gcvalue(v));
  return 0;
}


static inline int settlenode (global_State *g, Node *n) {
  if (isempty(gval(n))) {
    luaN_clearkey(n);
    return 0;
  }
  if (keyiscollectable(n)) luaN_mark(g, gckey(n));
  return settlevalue(g, gval(n));
}


/*
** Returns how many attempts to mark a small table recursively may fail in a run (RUN slots of a
** large table); after that, the small tables of the run are pushed without an attempt. Returns 0,
** so that no attempt is made,
** - in a minor collection and in a small heap, where the objects are in the cache anyway
** - while ephemerons are resolved from their keys (chase.h): each possible key must be pushed
*/
static int mostfailed (const luaN_Gc *c) {
  return (c->mark.minor || luaN_isnear(c) || c->weak.chasing) ? 0 : MAX_FAILED;
}


static void settlearray (global_State *g, const TValue *v, const TValue *last) {
  while (v < last) {
    const TValue *end = (last - v > RUN) ? v + RUN : last;
    int left = mostfailed(&g->heap.gc);
    for (; end - v >= 4 && left > 0; v += 4) {  /* skips 4 slots without objects at once */
      if (!luaN_refers(v)) continue;
      left -= settlevalue(g, v);
      left -= settlevalue(g, v + 1);
      left -= settlevalue(g, v + 2);
      left -= settlevalue(g, v + 3);
    }
    luaN_markarray(g, v, end);
    v = end;
  }
}


static void settlenodes (global_State *g, Node *n, Node *last) {
  while (n < last) {
    Node *end = (last - n > RUN) ? n + RUN : last;
    int left = mostfailed(&g->heap.gc);
    while (n < end && left > 0) left -= settlenode(g, n++);
    luaN_marknodes(g, n, end);
    n = end;
  }
}


unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i, unsigned n) {
  unsigned asize = luaN_asize(t);
  unsigned end = asize + (unsigned)sizenode(t);
  unsigned stop = (n < end - i) ? i + n : end;
  if (i > end) return 0;
  if (i < asize) {
    unsigned last = (stop < asize) ? stop : asize;
    settlearray(g, t->array + i, t->array + last);
    i = last;
  }
  if (i < stop) settlenodes(g, gnode(t, i - asize), gnode(t, stop - asize));
  return (stop < end) ? stop : 0;
}

/* }===================================================================== */


/* Marks o, a dead short string (gc.h), and adds it to the counts again, because the atomic step has
   subtracted the bytes of all dead objects from the bytes in use. */
void luaN_resurrect (global_State *g, GCObject *o) {
  l_mem n = (l_mem)luaN_round(sizelstring(gco2ts(o)->shrlen));
  luaN_mark(g, o);
  g->heap.gc.strings.dead--;
  g->heap.gc.bytes.old += n;
  g->totalbytes += n;
  luaN_flush(g);
}
