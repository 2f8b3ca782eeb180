/* SPDX-License-Identifier: MIT */
/* Traversal (traverse.h) with explicit mark stacks (mark.c). */

#include "lfunc.h"
#include "lgc.h"

#include "ageing.h"
#include "mark.h"
#include "pace.h"
#include "scan.h"
#include "traverse.h"
#include "weak.h"

/*
** A slice of a major collection traverses a table in parts if the table is not weak and has more
** than WHOLE slots.
** SLICE_SLOTS   number of slots in a part. With smaller parts, a slice exceeds its budget by less,
**               and has more overhead.
** NUMBERS_PART  this number of array slots without objects cost as much as one slot with an object.
**               So WHOLE slots without objects cost as much as one part.
*/
#define SLICE_SLOTS	128u
#define NUMBERS_PART	8u
#define WHOLE		(SLICE_SLOTS * NUMBERS_PART)

/* number of objects pending finalization (dead, but kept for the call of their finalizer) that a
   slice marks before it compares its cost with its budget again */
#define SLICE_FINALIZED	16u

/* If the traversal of an old object pushes at most MAX_SORTED objects, traverseinorder sorts them
   by address. */
#define MAX_SORTED	8

/* A table with more than BROAD bytes of array and hash part is broad: the small tables to which it
   refers are marked recursively, for the reason stated in mark.c. */
#define BROAD		(LUAN_SMALLTABLE * sizeof(TValue))


/* Marks the metatable of t, if any. Returns 1 if t is weak and was added to a list of weak tables
   (weak.h). Returns 0 if t must be traversed as a strong table. */
static inline int isweak (global_State *g, Table *t) {
  int kind;
  if (t->metatable == NULL) return 0;
  kind = (t->metatable->flags & (1u << TM_MODE)) ? LUAN_STRONG : luaN_weakness(g, t);
  luaN_mark(g, t->metatable);
  return kind != LUAN_STRONG && luaN_discoverweak(g, t, kind);
}


static __attribute__((noinline)) size_t traversebroad (global_State *g, Table *t) {
  unsigned settled = g->heap.gc.mark.settled;
  luaN_markvectors(g, t);
  if (!isweak(g, t)) luaN_traverseslots(g, t, 0, ~0u);
  return sizeof(Table) + luaN_vectorbytes(t) + (g->heap.gc.mark.settled - settled);
}


/* Traverses table t and returns the cost: the number of visited bytes. The code for tables with
   small array and hash parts is inline, because these tables are frequent. */
static size_t traversetable (global_State *g, Table *t) {
  size_t array = luaN_asize(t) * sizeof(TValue), nodes = (size_t)sizenode(t) * sizeof(Node);
  int weak;
  if (l_unlikely(array + nodes > BROAD)) return traversebroad(g, t);
  weak = isweak(g, t);
  if (array > 0) {
    luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, t->array), t->array, array);
    if (!weak) luaN_markarray(g, t->array, t->array + luaN_asize(t));
  }
  if (!isdummy(t)) {
    luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, t->node), t->node, nodes);
    if (!weak) luaN_marknodes(g, t->node, t->node + sizenode(t));
  }
  return sizeof(Table) + array + nodes;
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


/* Traverses an object that is not a table. Returns the cost: the number of visited bytes. */
static __attribute__((noinline)) size_t traverseother (global_State *g, GCObject *o) {
  int i;
  switch (o->tt) {
    case LUA_VLCL: {
      LClosure *cl = gco2lcl(o);
      luaN_markN(g, cl->p);
      for (i = 0; i < cl->nupvalues; i++) luaN_markN(g, cl->upvals[i]);
      return sizeLclosure(cl->nupvalues);
    }
    case LUA_VUPVAL:  /* marks the value of an open upvalue, too: its stack slot has no barrier */
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
    default: return luaN_scanthread(g, gco2th(o), !g->heap.gc.mark.minor);
  }
}


size_t luaN_traverse (global_State *g, GCObject *o) {
  return (o->tt == LUA_VTABLE) ? traversetable(g, gco2t(o)) : traverseother(g, o);
}


/* {== emptying the mark stacks ========================================== */

/* Traverses o, a marked object that did not fit on a mark stack. If o is a thread, scans the whole
   stack. In a minor collection, a scan of the changed part would be enough; but a major collection,
   which must scan the whole stack, may have marked o. */
static void traverse_again (global_State *g, GCObject *o) {
  if (o->tt == LUA_VTHREAD) luaN_scanthread(g, gco2th(o), 1);
  else luaN_traverse(g, o);
}


static void traversepending (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_Chunk *k;
  size_t i;
  c->mark.pending = 0;
  for (k = g->heap.blocks.chunks; k != NULL; k = k->next) {
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
          traverse_again(g, (GCObject *)((char *)b + (i * 64 + bit) * LUAN_GRANULE));
        }
      }
    }
  }
  for (i = 0; i <= c->lists.large.v.n; i++) {
    GCObject *o = (i < c->lists.large.v.n) ? (GCObject *)c->lists.large.v.a[i]
                                     : obj2gco(g->mainthread);
    if (o != NULL && (o->marked & LUAN_PENDING)) {  /* NULL: swept (G7) */
      o->marked &= (lu_byte)~LUAN_PENDING;
      traverse_again(g, o);
    }
  }
}


void luaN_clearbits (global_State *g, int bit) {
  const luaN_Vec *v = &g->heap.gc.lists.large.v;
  luaN_Chunk *k;
  size_t i;
  unsigned n;
  for (k = g->heap.blocks.chunks; k != NULL; k = k->next) {
    for (n = 0; n < k->nblocks; n++) {
      luaN_Block *b = luaN_blockat(k, n);
      memset(luaN_bits(b), 0, b->nlines);  /* one bit per granule */
      b->pending = 0;
    }
  }
  for (i = 0; i < v->n; i++)
    if (v->a[i] != NULL) ((GCObject *)v->a[i])->marked &= (lu_byte)~bit;  /* NULL: swept (G7) */
  g->mainthread->marked &= (lu_byte)~bit;
}


/*
** Traverses the old object o and returns the cost in bytes. If the traversal pushes up to
** MAX_SORTED objects, sorts them by address, so that the object with the lowest address is popped
** first. Reason: often this is the order in which the objects were allocated, and the processor
** prefetches memory in this direction. (Young objects need no order, because they are in the
** cache.)
*/
static size_t traverseinorder (global_State *g, GCObject *o) {
  luaN_Vec *v = &g->heap.gc.mark.old;
  size_t from = v->n, i, j;
  size_t cost = luaN_traverse(g, o);
  if (v->n - from <= MAX_SORTED) {
    for (i = from + 1; i < v->n; i++) {
      void *p = v->a[i];
      for (j = i; j > from && v->a[j - 1] < p; j--) v->a[j] = v->a[j - 1];
      v->a[j] = p;
    }
  }
  return cost;
}


/* Empties the mark stacks (traverse.h). Before the traversal of a young object, sets mark.holder to
   the object, because luaN_staysyoung may have to record it as a holder (ageing.h). */
void luaN_drain (global_State *g, int all) {
  luaN_Gc *c = &g->heap.gc;
  /* 'all' is 1 only when slices have finished the table and the thread that they traverse in
     parts */
  lua_assert(!all || (c->mark.table == NULL && c->mark.thread == NULL));
  for (;;) {
    if (c->mark.young.n > 0) {
      GCObject *o = (GCObject *)c->mark.young.a[--c->mark.young.n];
      luaN_agein(c, o);
      luaN_traverse(g, o);
      continue;
    }
    luaN_agein(c, NULL);
    if (all && c->mark.old.n > 0) {
      GCObject *o = (GCObject *)c->mark.old.a[--c->mark.old.n];
      if (luaN_isnear(c)) luaN_traverse(g, o);
      else traverseinorder(g, o);
    }
    else if (c->mark.pending) traversepending(g);
    else return;
  }
}


/* number of slots or CallInfos of a deep stack that a slice visits before it compares its cost with
   its budget again */
#define AT_A_TIME(c)	(luaN_slicestress(c) != 0 ? 8 : (int)LUAN_ATONCE)


/* Returns 1 if th has more than 'most' slots in use or more than 'most' CallInfos. */
static int isdeep (const lua_State *th, int most) {
  return th->stack.p != NULL &&
         (th->top.p - th->stack.p > most || (int)th->nci > most);
}


/* Counts the successive array slots of t that contain no object, from slot i on. The result is
   rounded down to a multiple of 4, and is at most SLICE_SLOTS. */
static unsigned countnumbers (const Table *t, unsigned i) {
  unsigned asize = luaN_asize(t), n = 0;
  unsigned most = (i >= asize) ? 0 : (asize - i < SLICE_SLOTS) ? asize - i : SLICE_SLOTS;
  while (n + 4 <= most && !luaN_refers(t->array + i + n)) n += 4;
  return n;
}


size_t luaN_markfinalized (global_State *g, size_t n) {
  luaN_Gc *c = &g->heap.gc;
  size_t i = c->finalize.seen, left;
  if (i < c->finalize.next) i = c->finalize.next;
  left = c->finalize.tobefinalized.n - i;
  if (n > left) n = left;
  c->pause.looked[LUAN_LLISTED] += n;
  for (; n > 0; n--, i++) luaN_mark(g, (GCObject *)c->finalize.tobefinalized.a[i]);
  c->finalize.seen = i;
  return left;
}


/* Traverses the next slots of mark.table, the large table that slices traverse in parts. After the
   last slot, sets mark.table to NULL. Returns the cost: the number of visited bytes. */
static size_t someslots (global_State *g) {
  luaN_Mark *m = &g->heap.gc.mark;
  unsigned settled = m->settled;
  unsigned n = countnumbers(m->table, m->index);
  if (n > 0) {
    m->index += n;
    return n * sizeof(TValue) / NUMBERS_PART;
  }
  m->index = luaN_traverseslots(g, m->table, m->index, SLICE_SLOTS);
  if (m->index == 0) m->table = NULL;
  return SLICE_SLOTS * sizeof(TValue) + (m->settled - settled);
}


int luaN_markslice (global_State *g, size_t bytes) {
  luaN_Gc *c = &g->heap.gc;
  size_t done = 0;
  lua_assert(c->mark.young.n == 0);
  while (done < bytes) {
    if (c->mark.table != NULL) done += someslots(g);
    else if (c->mark.thread != NULL) {
      luaN_threadslice(g, AT_A_TIME(c));
      done += LUAN_ATONCE * LUAN_VISIT;
    }
    else if (c->mark.old.n > 0) {
      GCObject *o = (GCObject *)c->mark.old.a[--c->mark.old.n];
      if (o->tt == LUA_VTABLE &&
          gco2t(o)->alimit + (unsigned)sizenode(gco2t(o)) > WHOLE &&
          luaN_weakness(g, gco2t(o)) == LUAN_STRONG) {
        luaN_markN(g, gco2t(o)->metatable);
        luaN_markvectors(g, gco2t(o));
        c->mark.table = gco2t(o);
        c->mark.index = 0;
      }
      else if (o->tt == LUA_VTHREAD && isdeep(gco2th(o), AT_A_TIME(c)))
        luaN_beginthread(g, gco2th(o));
      else done += traverseinorder(g, o);
    }
    else if (luaN_markfinalized(g, SLICE_FINALIZED) > 0)
      done += SLICE_FINALIZED * LUAN_VISIT;
    else return 1;  /* pending objects may be left: the atomic step traverses them (luaN_drain) */
  }
  return 0;
}


/* Marks the roots. Objects queued for their finalizers are roots, too, but luaN_keepwaiting and
   luaN_markfinalized mark them. */
void luaN_markroots (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  /* The main thread is never in the remembered set, so each collection scans it. */
  if (luaN_hasepoch(g->mainthread, c->mark.epoch)) {
    luaN_agein(c, obj2gco(g->mainthread));
    luaN_scanthread(g, g->mainthread, 0);
    luaN_agein(c, NULL);
  }
  else luaN_mark(g, obj2gco(g->mainthread));
  luaN_mark(g, obj2gco(L));
  luaN_markN(g, g->heap.pinned);
  luaN_markvalue(g, &g->l_registry);
  for (i = 0; i < LUA_NUMTYPES; i++) luaN_markN(g, g->mt[i]);
  /* The objects of lists.fixed before index fixedseen have the current epoch already. */
  for (; c->lists.fixedseen < c->lists.fixed.n; c->lists.fixedseen++)
    luaN_mark(g, (GCObject *)c->lists.fixed.a[c->lists.fixedseen]);
}

/* }===================================================================== */
