/* SPDX-License-Identifier: MIT */
/*
** The walk over all reachable objects and the references between them (luaN_walk of seam.h). It
** reaches the objects that a full collection would keep. Sizes are as the collector counts them:
** the sum of all sizes and luaN_statebytes is the number of bytes in use. If the client requests a
** tree (luaN_Walker.wanted), the tree contains only the first edge to each object, and only the
** strings whose bit in 'wanted' is set; the walk ends when the client has found all objects that it
** wants.
**
** The walk is breadth first, so the first edge to an object ends a shortest path. Stacks are
** visited when nothing else is left, and objects queued for finalizers last. A weak reference is an
** edge only if it refers to a string, because weak tables keep strings alive. The value of an entry
** with a weak key is reached from the key, when both the table and the key were reached.
**
** The walk changes two things in the heap: the set of reached objects (visits.c), which it empties
** at the end, and the bits of a metatable's 'flags' that record which metamethods are absent.
*/

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"

#include "mark.h"
#include "sampling.h"
#include "visits.h"
#include "weak.h"

/* A growing array, allocated by the functions of the walker (luaN_Walker). */
typedef struct List {
  void **a;
  size_t n, size;
} List;

typedef struct Walk {
  global_State *g;
  const luaN_Walker *w;
  /* In a walk that builds a tree: for each object in the queue, the index of its parent (the object
     from which it was reached first), or LUAN_NOPARENT. NULL if the walk reports all edges. */
  uint32_t *parents;
  /* all reached objects; the index of an object is its 'place' */
  List queue;
  /* index in 'queue' of the next object to visit */
  size_t next;
  /* The reached threads, each as its index in 'queue'. Their stacks are visited when no other
     object is left to visit. */
  List threads;
  /* index in 'threads' of the next thread whose local variables must be visited */
  size_t nextnamed;
  /* index in 'threads' of the next thread whose stack slots without a variable must be visited */
  size_t nextunnamed;
  /* Slots of stacks that reach_stack omits at present. LUAN_ELOCAL: the slots of local variables;
     LUAN_ESTACK: all other slots; LUAN_EROOT: none is omitted. */
  luaN_EdgeKind omitted;
  /* Entries of ephemeron tables whose tables were reached before their keys. Three words for each
     entry:
     - the table
     - the node; NULL after its value was reported
     - 1 plus the index of the next entry in the same chain of 'heads'; 0: none */
  List open;
  /* Hash table that finds the entries in 'open' by their keys. Each word is a bucket: 1 plus the
     index in 'open' of the first entry of the bucket's chain, or 0 if the chain is empty. The
     number of buckets is a power of 2, or 0 while 'open' has no entry. */
  List heads;
  /* The edge that is reported next. Its members 'from' and 'place' are set once for all edges of an
     object (by the function 'from'). */
  luaN_Edge e;
  /* 1: only the edges from one object are reported (luaN_edges) */
  int alone;
  int failed;		/* why the walk ends: a result of luaN_walk, or ENOUGH; 0: it continues */
} Walk;

/* value of Walk.failed: the walk ends early without an error, because the client has found all
   objects that it wants */
enum { ENOUGH = -1 };


static int push (Walk *w, List *l, void *p) {
  if (l->n == l->size) {
    size_t size = l->size ? 2 * l->size : 256;
    void **a = (void **)w->w->memory(w->w->ud, l->a, l->size * sizeof(void *),
                                     size * sizeof(void *));
    if (a == NULL) {
      w->failed = LUAN_NOMEMORY;
      return 0;
    }
    l->a = a;
    l->size = size;
  }
  l->a[l->n++] = p;
  return 1;
}


/* Appends object o to the queue, in a walk that builds a tree. The parent of o is the object with
   index w->e.place. Returns 0 and sets w->failed if there is no memory, or if there are too many
   objects. */
static int pushchild (Walk *w, GCObject *o) {
  List *q = &w->queue;
  size_t old = q->size;
  if (q->n >= LUAN_NOPARENT) {
    w->failed = LUAN_NOMEMORY;
    return 0;
  }
  if (!push(w, q, o)) return 0;
  if (q->size > old) {
    uint32_t *p = (uint32_t *)w->w->memory(w->w->ud, w->parents, old * sizeof(*p),
                                           q->size * sizeof(*p));
    if (p == NULL) {
      w->w->memory(w->w->ud, w->parents, old * sizeof(*p), 0);
      w->parents = NULL;
      w->failed = LUAN_NOMEMORY;
      return 0;
    }
    w->parents = p;
  }
  w->parents[q->n - 1] = (uint32_t)w->e.place;  /* the cast changes LUAN_NOPLACE to LUAN_NOPARENT */
  return 1;
}


static void freelist (const luaN_Walker *w, List *l) {
  if (l->a != NULL) w->memory(w->ud, l->a, l->size * sizeof(void *), 0);
}


static int isstring (const GCObject *o) {
  return novariant(o->tt) == LUA_TSTRING;
}


/* Returns 1 if slot v is empty, and 0 if it has a value. A slot with a tombstoned weak value only
   looks empty (hidden.h). */
static int isvoid (const TValue *v) {
  return isempty(v) && !luaN_ishidden(v);
}


/* {== edges ============================================================ */

/* In a walk that builds a tree: returns 1 if the client does not want this object, because its bit
   in luaN_Walker.wanted is 0. */
static int isunwanted (const Walk *w, const void *object) {
  unsigned bit = luaN_watchbit(object, w->w->log2);
  return !(w->w->wanted[bit / 64] >> bit % 64 & 1);
}


/* In a walk that builds a tree: queues object o, with the object at w->e.place as its parent, and
   returns 1. Returns 0 if o was reached before, if o is a string that the tree omits, or if the
   walk has ended. Ends the walk if the client needs no object after o. */
static int reach (Walk *w, GCObject *o) {
  const int unwanted = isunwanted(w, o);
  if (w->failed || (unwanted && isstring(o)) || luaN_visit(w->g, o) || !pushchild(w, o)) return 0;
  if (!unwanted && !w->w->found(w->w->ud, o, w->queue.n - 1, w->e.kind)) w->failed = ENOUGH;
  return 1;
}


/* Reports the edge w->e, a reference to object o, and queues o if it was not reached before. A walk
   that builds a tree ignores all edges to o but the first one. It reports this edge only if it
   comes from a root or a weak key; if it comes from another object, w->parents records it. */
static void reach_report (Walk *w, GCObject *o) {
  lua_assert(!w->e.code || w->e.kind == LUAN_EUPVALUE || w->e.kind == LUAN_ESTACK);
  if (w->failed) return;
  w->e.to = o;
  if (w->w->wanted != NULL) {
    if (!reach(w, o) || w->e.place != LUAN_NOPLACE) return;
    w->e.fresh = 1;
    w->e.place = w->queue.n - 1;
    if (!w->w->edge(w->w->ud, &w->e)) w->failed = LUAN_STOPPED;
    w->e.place = LUAN_NOPLACE;
    return;
  }
  w->e.fresh = !w->alone && !luaN_visit(w->g, o);
  if (w->e.fresh && !push(w, &w->queue, o)) return;
  if (!w->w->edge(w->w->ud, &w->e)) w->failed = LUAN_STOPPED;
}


static void edgeto (Walk *w, luaN_EdgeKind kind, const void *key, const void *in,
                    lua_Integer index, GCObject *o) {
  if (o == NULL) return;
  w->e.kind = kind;
  w->e.key = key;
  w->e.in = in;
  w->e.index = index;
  reach_report(w, o);
}


static void reach_edge (Walk *w, luaN_EdgeKind kind, GCObject *o) {
  edgeto(w, kind, NULL, NULL, 0, o);
}


static void keyedge (Walk *w, luaN_EdgeKind kind, const void *key, const void *in,
                     lua_Integer index, const TValue *v) {
  if (iscollectable(v)) edgeto(w, kind, key, in, index, gcvalue(v));
}


/* Sets the members of w->e that all edges from object o share: o, its index 'place' in the queue,
   and no C function. (The caller sets w->e.code if the edges belong to a C function.) */
static void from (Walk *w, const void *o, size_t place) {
  w->e.from = o;
  w->e.place = place;
  w->e.code = NULL;
}


/* Returns 1 if a table keeps its value v alive: v is an object, and the table's values are strong
   or v is a string. kind: which references of the table are weak (luaN_weakness). */
static int isheld (int kind, const TValue *v) {
  return iscollectable(v) && (!(kind & LUAN_WEAKVALUES) || isstring(gcvalue(v)));
}


/* Reports the edge from the key of n, an entry of the ephemeron table t, to the value of n. */
static void weakentry (Walk *w, const Table *t, Node *n) {
  const void *before = w->e.from;
  size_t place = w->e.place;
  from(w, gckey(n), LUAN_NOPLACE);
  keyedge(w, LUAN_EWEAKKEY, NULL, t, 0, gval(n));
  from(w, before, place);
}


static void **headof (const Walk *w, const GCObject *key) {
  uint64_t h = (uint64_t)(uintptr_t)key / LUAN_GRANULE * UINT64_C(0x9E3779B97F4A7C15);
  return &w->heads.a[(h >> 32) & (w->heads.n - 1)];
}


/* Adds the entry at w->open.a[i] to the hash table w->heads, by the key of its node, which was not
   reached yet. */
static void link (Walk *w, size_t i) {
  void **head = headof(w, gckey((Node *)w->open.a[i + 1]));
  w->open.a[i + 2] = *head;
  *head = (void *)(uintptr_t)(i + 1);
}


/* Builds the hash table w->heads of the nodes in w->open. The number of chains is at least twice
   the number of nodes. */
static void chain (Walk *w) {
  size_t i, size = 64;
  freelist(w->w, &w->heads);
  memset(&w->heads, 0, sizeof(w->heads));
  while (size < 2 * (w->open.n / 3)) size *= 2;
  w->heads.a = (void **)w->w->memory(w->w->ud, NULL, 0, size * sizeof(void *));
  if (w->heads.a == NULL) {
    w->failed = LUAN_NOMEMORY;
    return;
  }
  w->heads.n = w->heads.size = size;
  memset(w->heads.a, 0, size * sizeof(void *));
  for (i = 0; i < w->open.n; i += 3)
    if (w->open.a[i + 1] != NULL) link(w, i);
}


/* Adds node n of the ephemeron table t to w->open and to the hash table w->heads, because the key
   of n was not reached yet. Enlarges the hash table if it would have more nodes than chains. */
static void reach_await (Walk *w, const Table *t, Node *n) {
  if (!push(w, &w->open, (void *)t) || !push(w, &w->open, n) || !push(w, &w->open, NULL))
    return;
  if (w->open.n / 3 > w->heads.n) chain(w);
  else link(w, w->open.n - 3);
}


/* To be called when the walk has reached 'key'. Reports the values of the entries in w->open that
   have this key, because the key keeps them alive. */
static void arrive (Walk *w, const GCObject *key) {
  uintptr_t i = (uintptr_t)*headof(w, key);
  while (i != 0 && !w->failed) {
    void **a = &w->open.a[i - 1];
    i = (uintptr_t)a[2];
    if (a[1] == NULL || gckey((Node *)a[1]) != key) continue;
    weakentry(w, (const Table *)a[0], (Node *)a[1]);
    a[1] = NULL;
  }
}


static void entry (Walk *w, const Table *t, Node *n, int kind) {
  const TValue *v = gval(n);
  GCObject *key = keyiscollectable(n) ? gckey(n) : NULL;
  if (key != NULL && isstring(key)) {
    reach_edge(w, LUAN_EKEY, key);
    if (isheld(kind, v)) keyedge(w, LUAN_EFIELD, key, NULL, 0, v);
  }
  else if (key != NULL && (kind & LUAN_EPHEMERON)) {
    if (!isheld(kind, v)) return;
    /* Keys and values of t are weak. isheld has accepted v, so v is a string: weak tables keep
       strings alive, but no other values. A string is marked even if its key is not, so it is the
       table that keeps it alive: the edge is reported from the table, not from the key. */
    if (kind & LUAN_WEAKVALUES)
      keyedge(w, LUAN_EENTRY, NULL, NULL, 0, v);
    else if (w->alone || luaN_isvisited(w->g, key)) weakentry(w, t, n);
    else reach_await(w, t, n);
  }
  else {
    if (key != NULL) reach_edge(w, LUAN_EKEY, key);
    if (!isheld(kind, v)) return;
    if (keyisinteger(n)) keyedge(w, LUAN_EINDEX, NULL, NULL, keyival(n), v);
    else keyedge(w, LUAN_EENTRY, key, NULL, 0, v);
  }
}


/* If v has an object that was not reached before, queues it (reach). Does not call 'reach' for an
   unwanted string, because 'reach' reads the string's header, which would be a useless cache
   miss. */
static void child (Walk *w, const TValue *v) {
  if (iscollectable(v) && !(ttisstring(v) && isunwanted(w, gcvalue(v))))
    reach(w, gcvalue(v));
}


/* Queues each object to which the strong table t refers, except its metatable (reach). */
static void children (Walk *w, const Table *t) {
  unsigned i, asize = luaN_asize(t);
  w->e.kind = LUAN_EINDEX;
  for (i = 0; i < asize; i++) child(w, &t->array[i]);
  w->e.kind = LUAN_EENTRY;
  for (i = 0; i < (unsigned)sizenode(t); i++) {
    Node *n = gnode(t, i);
    if (isvoid(gval(n)) || luaN_isdoomed(w->g, t, n)) continue;
    if (keyiscollectable(n) && !(novariant(keytt(n)) == LUA_TSTRING && isunwanted(w, gckey(n))))
      reach(w, gckey(n));
    child(w, gval(n));
  }
}


static void table (Walk *w, Table *t) {
  int kind = luaN_weakness(w->g, t);
  unsigned i, asize = luaN_asize(t);
  reach_edge(w, LUAN_EMETATABLE, t->metatable ? obj2gco(t->metatable) : NULL);
  if (w->w->wanted != NULL && kind == LUAN_STRONG) {
    children(w, t);
    return;
  }
  for (i = 0; i < asize; i++)
    if (isheld(kind, &t->array[i]))
      keyedge(w, LUAN_EINDEX, NULL, NULL, (lua_Integer)i + 1, &t->array[i]);
  for (i = 0; i < (unsigned)sizenode(t); i++) {
    Node *n = gnode(t, i);
    if (!isvoid(gval(n)) && !luaN_isdoomed(w->g, t, n)) entry(w, t, n, kind);
  }
}


static void proto (Walk *w, Proto *f) {
  int i;
  reach_edge(w, LUAN_ENAME, f->source ? obj2gco(f->source) : NULL);
  reach_edge(w, LUAN_ENAME, f->name ? obj2gco(f->name) : NULL);
  for (i = 0; i < f->sizek; i++)
    keyedge(w, LUAN_ECONSTANT, NULL, NULL, i + 1, &f->k[i]);
  for (i = 0; i < f->sizeupvalues; i++)
    reach_edge(w, LUAN_ENAME, f->upvalues[i].name ? obj2gco(f->upvalues[i].name) : NULL);
  for (i = 0; i < f->sizep; i++)
    reach_edge(w, LUAN_EPROTO, f->p[i] ? obj2gco(f->p[i]) : NULL);
  for (i = 0; i < f->sizelocvars; i++)
    reach_edge(w, LUAN_ENAME, f->locvars[i].varname ? obj2gco(f->locvars[i].varname) : NULL);
}


/* Returns the name of the local variable in slot n (from 1) of a frame of p at instruction 'pc', or
   NULL. */
static const TString *localname (const Proto *p, int n, int pc) {
  int i;
  for (i = 0; i < p->sizelocvars && p->locvars[i].startpc <= pc; i++)
    if (pc < p->locvars[i].endpc && --n == 0) return p->locvars[i].varname;
  return NULL;
}


/* Reports the objects in the stack slots from o to end - 1 of frame ci. w->omitted determines which
   slots it omits: those of local variables, all others, or none. */
static void reach_frame (Walk *w, const CallInfo *ci, StkId o, StkId end) {
  const Proto *p = isLua(ci) ? ci_func(ci)->p : NULL;
  w->e.code = p != NULL ? NULL : luaN_codeof(s2v(ci->func.p));
  for (; o < end; o++) {
    const TString *name = NULL;
    if (!iscollectable(s2v(o))) continue;
    if (p != NULL && o > ci->func.p)
      name = localname(p, (int)(o - ci->func.p), pcRel(ci->u.l.savedpc, p));
    if (w->omitted != (name != NULL ? LUAN_ELOCAL : LUAN_ESTACK))
      keyedge(w, name != NULL ? LUAN_ELOCAL : LUAN_ESTACK, name, p, o - ci->func.p, s2v(o));
  }
}


static void reach_stack (Walk *w, lua_State *th) {
  const CallInfo *ci;
  StkId o = th->stack.p;
  UpVal *uv;
  if (o == NULL) return;  /* the thread has no stack yet */
  for (ci = &th->base_ci; o < th->top.p; ci = ci->next) {
    StkId end = th->top.p;
    if (ci != th->ci) {
      const CallInfo *next = ci->next;
      end = next->func.p;
      /* the extra arguments of a vararg function are in the slots below the function */
      if (isLua(next) && ci_func(next)->p->is_vararg)
        end -= next->u.l.nextraargs + 1;
    }
    if (end > th->top.p) end = th->top.p;
    if (end > o) {
      reach_frame(w, ci, o, end);
      o = end;
    }
    if (ci == th->ci) break;
  }
  w->e.code = NULL;
  for (uv = w->omitted == LUAN_ELOCAL ? NULL : th->openupval; uv != NULL; uv = uv->u.open.next)
    reach_edge(w, LUAN_EOPEN, obj2gco(uv));
}


static void edges (Walk *w, GCObject *o) {
  int i;
  switch (o->tt) {
    case LUA_VTABLE:
      table(w, gco2t(o));
      break;
    case LUA_VLCL: {
      LClosure *cl = gco2lcl(o);
      reach_edge(w, LUAN_EPROTO, cl->p ? obj2gco(cl->p) : NULL);
      for (i = 0; i < cl->nupvalues; i++) {
        const void *name = (cl->p && i < cl->p->sizeupvalues) ? cl->p->upvalues[i].name : NULL;
        if (cl->upvals[i] != NULL)
          edgeto(w, LUAN_EUPVALUE, name, cl->p, i + 1, obj2gco(cl->upvals[i]));
      }
      break;
    }
    case LUA_VCCL:
      w->e.code = (const void *)(uintptr_t)gco2ccl(o)->f;
      for (i = 0; i < gco2ccl(o)->nupvalues; i++)
        keyedge(w, LUAN_EUPVALUE, NULL, NULL, i + 1, &gco2ccl(o)->upvalue[i]);
      break;
    case LUA_VUPVAL:
      keyedge(w, LUAN_EVALUE, NULL, NULL, 0, gco2upv(o)->v.p);
      break;
    case LUA_VUSERDATA: {
      Udata *u = gco2u(o);
      reach_edge(w, LUAN_EMETATABLE, u->metatable ? obj2gco(u->metatable) : NULL);
      for (i = 0; i < u->nuvalue; i++)
        keyedge(w, LUAN_EUSERVALUE, NULL, NULL, i + 1, &u->uv[i].uv);
      break;
    }
    case LUA_VPROTO:
      proto(w, gco2p(o));
      break;
    default: break;  /* strings refer to nothing; stacks are visited later */
  }
}

/* }===================================================================== */


/* {== descriptions of objects =========================================== */

static size_t bytesof (const Proto *f) {
#define VECTOR(n,type)	luaN_round((size_t)(n) * sizeof(type))
  return luaN_round(sizeof(Proto)) + VECTOR(f->sizecode, Instruction) +
         VECTOR(f->sizep, Proto *) + VECTOR(f->sizek, TValue) +
         VECTOR(f->sizelineinfo, ls_byte) +
         VECTOR(f->sizeabslineinfo, AbsLineInfo) +
         VECTOR(f->sizelocvars, LocVar) + VECTOR(f->sizeupvalues, Upvaldesc);
#undef VECTOR
}


LUA_API void luaN_object (lua_State *L, const void *object, luaN_Object *to) {
  const global_State *g = G(L);
  GCObject *o = (GCObject *)object;
  memset(to, 0, sizeof(*to));
  to->object = o;
  to->kind = luaN_kindfor(o->tt);
  switch (o->tt) {
    case LUA_VSHRSTR: case LUA_VLNGSTR:
      to->text = getstr(gco2ts(o));
      to->length = tsslen(gco2ts(o));
      to->size = luaN_round(sizelstring(to->length));
      break;
    case LUA_VTABLE:
      to->size = luaN_round(sizeof(Table)) + luaN_vectorbytes(gco2t(o));
      break;
    case LUA_VLCL:
      to->size = luaN_round(sizeLclosure(gco2lcl(o)->nupvalues));
      to->function = gco2lcl(o)->p;
      break;
    case LUA_VCCL:
      to->size = luaN_round(sizeCclosure(gco2ccl(o)->nupvalues));
      to->function = (const void *)(uintptr_t)gco2ccl(o)->f;
      break;
    case LUA_VUPVAL:
      to->size = luaN_round(sizeof(UpVal));
      break;
    case LUA_VUSERDATA:
      to->size = luaN_round(luaN_sizeudata(gco2u(o)->nuvalue, gco2u(o)->len));
      break;
    case LUA_VPROTO:
      to->size = bytesof(gco2p(o));
      to->name = gco2p(o)->name;
      to->source = gco2p(o)->source;
      to->line = gco2p(o)->linedefined;
      break;
    default: {
      const lua_State *th = gco2th(o);
      lua_assert(o->tt == LUA_VTHREAD);
      to->main = (th == g->mainthread);
      to->size = luaN_threadbytes(th);
      if (!to->main)  /* luaN_statebytes counts the struct of the main thread */
        to->size += luaN_round(LUA_EXTRASPACE + sizeof(lua_State));
      break;
    }
  }
}

/* }===================================================================== */


/* {== the walk ========================================================= */

/* Visits the queue from w->next on: reports each object and its edges, which may add more objects
   to the queue. Puts threads into a list: reach_next visits their stacks later. */
static void reach_drain (Walk *w, lua_State *L) {
  luaN_Object o;
  for (; w->next < w->queue.n && !w->failed; w->next++) {
    GCObject *p = (GCObject *)w->queue.a[w->next];
    if (w->w->object != NULL) {
      luaN_object(L, p, &o);
      o.place = w->next;
      if (!w->w->object(w->w->ud, &o)) {
        w->failed = LUAN_STOPPED;
        return;
      }
    }
    if (p->tt == LUA_VTHREAD)
      push(w, &w->threads, (void *)(uintptr_t)w->next);
    from(w, p, w->next);
    edges(w, p);
    if (w->heads.n > 0) arrive(w, p);
  }
}


static void root (Walk *w, luaN_Root which, GCObject *o) {
  edgeto(w, LUAN_EROOT, NULL, NULL, which, o);
}


static void roots (Walk *w, lua_State *L) {
  const luaN_Gc *c = &w->g->heap.gc;
  size_t i;
  from(w, NULL, LUAN_NOPLACE);
  root(w, LUAN_RREGISTRY, gcvalue(&w->g->l_registry));
  for (i = 0; i < LUA_NUMTYPES; i++)
    root(w, (luaN_Root)(LUAN_RTYPE + i), w->g->mt[i] ? obj2gco(w->g->mt[i]) : NULL);
  root(w, LUAN_RTHREAD, obj2gco(w->g->mainthread));
  root(w, LUAN_RTHREAD, obj2gco(L));
  root(w, LUAN_RPINNED, w->g->heap.pinned);
  for (i = 0; i < c->lists.fixed.n; i++)
    root(w, LUAN_RFIXED, (GCObject *)c->lists.fixed.a[i]);
}


/*
** Reports the local variables, or the other slots, of one thread's stack. When no stack is left and
** *finalizers is 0, sets *finalizers to 1 and reports the objects that are queued for finalizers,
** as roots. Returns 0 if nothing was left to report, else 1.
**
** Visits the local variables of all stacks before the other slots, so that a path leads through a
** variable if possible: a variable has a name, and keeps its value longer than other slots.
*/
static int reach_next (Walk *w, int *finalizers) {
  const luaN_Gc *c = &w->g->heap.gc;
  size_t i;
  size_t *next = w->nextnamed < w->threads.n ? &w->nextnamed : &w->nextunnamed;
  if (*next < w->threads.n) {
    size_t place = (size_t)(uintptr_t)w->threads.a[(*next)++];
    w->omitted = (next == &w->nextnamed) ? LUAN_ESTACK : LUAN_ELOCAL;
    from(w, w->queue.a[place], place);
    reach_stack(w, (lua_State *)w->queue.a[place]);
    return 1;
  }
  if (*finalizers) return 0;
  *finalizers = 1;
  from(w, NULL, LUAN_NOPLACE);
  for (i = c->finalize.next; i < c->finalize.tobefinalized.n; i++)
    root(w, LUAN_RFINALIZER, (GCObject *)c->finalize.tobefinalized.a[i]);
  return 1;
}


LUA_API int luaN_walk (lua_State *L, const luaN_Walker *walker) {
  Walk w = {.g = G(L), .w = walker};
  int finalizers = 0;
  if (w.g->heap.gc.mark.pending || w.g->gcstate == GCSatomic || w.g->gcstopem || w.g->gcemergency)
    return LUAN_BUSY;
  roots(&w, L);
  do reach_drain(&w, L);
  while (!w.failed && reach_next(&w, &finalizers));
  luaN_clearvisits(w.g);
  if (w.failed == ENOUGH) w.failed = LUAN_WALKED;
  if (!w.failed && walker->done != NULL)
    walker->done(walker->ud, (const void *const *)w.queue.a, w.parents, w.queue.n);
  if (w.parents != NULL)
    walker->memory(walker->ud, w.parents, w.queue.size * sizeof(*w.parents), 0);
  freelist(walker, &w.queue);
  freelist(walker, &w.threads);
  freelist(walker, &w.open);
  freelist(walker, &w.heads);
  return w.failed;
}


LUA_API void luaN_edges (lua_State *L, const void *object,
                         int (*edge) (void *ud, const luaN_Edge *e), void *ud) {
  const luaN_Walker walker = {.ud = ud, .edge = edge};
  GCObject *o = (GCObject *)object;
  Walk w = {.g = G(L), .w = &walker, .alone = 1};
  from(&w, o, LUAN_NOPLACE);
  if (o->tt == LUA_VTHREAD) reach_stack(&w, gco2th(o));
  else edges(&w, o);
}


LUA_API size_t luaN_statebytes (lua_State *L) {
  const global_State *g = G(L);
  return sizeof(global_State) + LUA_EXTRASPACE + sizeof(lua_State) +
         luaN_round(STRCACHE_N * sizeof(StrCacheSet)) +
         luaN_round((size_t)g->strt.size * sizeof(TString *));
}

/* }===================================================================== */
