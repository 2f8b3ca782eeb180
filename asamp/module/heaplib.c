/* SPDX-License-Identifier: MIT */
/*
** The Lua module profiler.heap: reads a heap snapshot and computes the results of 'asamp heap'.
** Sizes are in bytes. Wrong arguments raise errors. Lack of memory raises an error, too, except
** in functions that return messages on failure.
**
** Trees of objects are returned as lists of rows. A row is a table with fields of MergeRow
** (merge.h): depth, above, class, merged, repeated, together, count, self and value. It also has
** the fields text (description), kind (of the reference, HEAP_E...), address and function. The Lua
** state's own memory is a row with count 0.
**
** A function that returns a tree has two options: 'least', the smallest 'value' of a row, and
** 'most', the largest number of rows (default 10000). It also returns totals: {count, self, value,
** left, cut}. 'left' is the number of omitted rows. 'cut' is the number of omitted rows whose
** 'value' is at least 'least'. They are omitted because there are more than 'most' rows, or because
** they are too deep in the tree (MERGE_DEPTH).
*/
#include "cut.h"
#include "devtools.h"
#include "dominators.h"
#include "graph.h"
#include "luafields.h"
#include "merge.h"
#include "classnames.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define TYPENAME "profiler.heap"
#define OBJECTS_MOST	256u	/* largest n of heap:objects */

/* The address and number of an object, for lists that are sorted by address. */
typedef struct Identity {
  uint64_t address;
  uint32_t v;
} Identity;

/* A heap, the userdata of this module: a heap snapshot and data computed from it. 'graph' is NULL
   after heap:close. */
typedef struct Heap {
  Graph *graph;
  Dominators dominators;
  Naming naming;
  /* isnew[v] is 1 if heap:compare did not find object v in the other snapshot. NULL: heap:compare
     was not called. */
  unsigned char *isnew;
  Identity *sorted;	/* All objects, sorted by address; NULL before the first heap:path. */
  /* Valid while heaplib_open runs: the Lua thread that has called it. Stack index 2 has the
     function 'progress'. */
  lua_State *L;
  int failed;	/* 1: the function 'progress' has raised an error */
} Heap;

int luaopen_profiler_heap (lua_State *L);

/* Returns the heap that is argument i. Raises an error if it is closed. */
static Heap *heaplib_check (lua_State *L, int i) {
  Heap *h = luaL_checkudata(L, i, TYPENAME);
  if (h->graph == NULL)
    luaL_error(L, "the snapshot is closed; open the file again");
  return h;
}

/* heap:close() and __gc of a heap: frees its data */
static int heaplib_gc (lua_State *L) {
  Heap *h = luaL_checkudata(L, 1, TYPENAME);
  graph_free(h->graph);
  dominators_free(&h->dominators);
  naming_free(&h->naming);
  free(h->isnew);
  free(h->sorted);
  memset(h, 0, sizeof(*h));
  return 0;
}

/* Returns the integer field 'key' of the table at index 2, or 'otherwise' if the field is nil.
   Returns 0 instead of a negative number. */
static lua_Integer integer (lua_State *L, const char *key, lua_Integer otherwise) {
  lua_Integer n;
  lua_getfield(L, 2, key);
  n = luaL_optinteger(L, -1, otherwise);
  lua_pop(L, 1);
  return n < 0 ? 0 : n;
}

/* {== reading ========================================================== */

/* Calls the function 'progress', if any, with the finished share. After an error in that function,
   does nothing. */
static void heaplib_progress (void *ud, double share) {
  Heap *h = ud;
  if (h->failed || lua_type(h->L, 2) != LUA_TFUNCTION)
    return;
  lua_pushvalue(h->L, 2);
  lua_pushnumber(h->L, share);
  if (lua_pcall(h->L, 1, 0, 0) != LUA_OK) {
    h->failed = 1;
    lua_pop(h->L, 1);
  }
}

/* open(path [, progress]) -> heap; on failure nil, message. The function 'progress' is called with
   the finished share, 0 to 1, until it raises an error. */
static int heaplib_open (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char err[1024];
  Heap *h;
  lua_settop(L, 2);
  h = lua_newuserdatauv(L, sizeof(*h), 0);
  memset(h, 0, sizeof(*h));
  luaL_setmetatable(L, TYPENAME);
  h->L = L;
  h->graph = graph_read(path, heaplib_progress, h, err, sizeof(err));
  if (h->graph != NULL) {
    heaplib_progress(h, 0.7);
    if (naming_of(&h->naming, h->graph) && dominators_of(&h->dominators, h->graph)) {
      heaplib_progress(h, 1);
      return 1;
    }
    snprintf(err, sizeof(err), "cannot read the snapshot '%s': not enough memory for its %u "
             "objects; read it on a machine with more memory", path, h->graph->n);
  }
  return pushfailure(L, err);
}

/* heap:info() -> table with fields of the same names as in Graph (graph.h), such as 'bytes', and
   - objects, references, classes, samples: numbers of these items in the snapshot
   - command: command line of the program; nil: unknown */
static int l_info (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  const Graph *g = h->graph;
  lua_createtable(L, 0, 12);
  setinteger(L, "objects", (uint64_t)g->n - 1);
  setinteger(L, "references", (uint64_t)g->nedges + g->nlate);
  setinteger(L, "bytes", g->bytes);
  setinteger(L, "state", g->state);
  setinteger(L, "inuse", g->inuse);
  setinteger(L, "held", g->held);
  setinteger(L, "allocated", g->allocated);
  setinteger(L, "time", g->time);
  setinteger(L, "pid", g->pid);
  setinteger(L, "textless", g->textless);
  setinteger(L, "classes", h->naming.n);
  setinteger(L, "period", g->period);
  setinteger(L, "unfollowed", g->unfollowed);
  setinteger(L, "samples", g->nsamples);
  setinteger(L, "dead", g->dead);
  if (g->command[0] != '\0')
    setstring(L, "command", g->command);
  return 1;
}

/* }===================================================================== */

/* {== classes ========================================================== */

typedef struct ClassRow {
  uint64_t count, self;	/* 'count': number of objects of the class; 'self': their own bytes */
  /* For heap:compare. 'new', 'newbytes': number and bytes of the objects that are only in this
     snapshot. 'gone', 'gonebytes': number and bytes of the objects that are only in the other
     snapshot. */
  uint64_t new, newbytes, gone, gonebytes;
  /* For heap:compare: bytes by which the objects that are in both snapshots have grown. */
  int64_t grown;
} ClassRow;

/* Adds to bytes[c], for each class c, the bytes that its objects retain. Skips an object that
   another object of the class dominates, because the bytes that the dominating object retains
   include it. class[v]: class of object v (for l_sites, its allocation site), a number less than
   'classes'. Returns 0 if out of memory. */
static int retained (const Heap *h, const uint32_t *class, uint32_t classes, uint64_t *bytes) {
  const Dominators *d = &h->dominators;
  uint32_t n = d->n, v, sum = 0;
  uint32_t *first = calloc((size_t)n + 2, sizeof(*first));
  uint32_t *child = malloc((size_t)n * sizeof(*child));
  uint32_t *active = calloc(classes + (size_t)1, sizeof(*active));
  int ok = first != NULL && child != NULL && active != NULL;
  if (ok) {
    for (v = 1; v < n; v++) first[d->dominator[v] + 2]++;
    for (v = 0; v < n; v++) {
      sum += first[v + 2];
      first[v + 2] = sum;
    }
    for (v = 1; v < n; v++) child[first[d->dominator[v] + 1]++] = v;
    /* from here on, first[v] is the index in 'child' of the child of v that is visited next */
    for (v = 0; ; ) {
      if (first[v] < n - 1 && d->dominator[child[first[v]]] == v) {
        uint32_t c = child[first[v]++];
        if (active[class[c]]++ == 0) bytes[class[c]] += d->retained[c];
        v = c;
      }
      else if (v == 0) break;
      else {
        active[class[v]]--;
        v = d->dominator[v];
      }
    }
  }
  free(first);
  free(child);
  free(active);
  return ok;
}

/* Largest number of references and objects that together() visits. The visits take about 4 s. */
#define EXACT_EDGES	UINT64_C(200000000)

/* A class for which retained() may count too few bytes. That is the case if an object is reachable
   only through two objects of the class: neither of the two retains it alone, so retained() does
   not count it. */
typedef struct Candidate {
  uint32_t class;
  /* Estimate of the bytes that retained() does not count. Classes with the largest estimates are
     examined first. It is a sum over the references from objects of the class to objects of other
     classes. A reference adds the bytes that its target retains. If the referring object dominates
     the target, retained() counts the target, and the reference adds only 1. This 1 keeps the class
     in the list, which has no classes with the estimate 0: retained() may still miss objects that
     are reachable through the target. */
  uint64_t weight;
} Candidate;

static int byweight (const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  return (x->weight < y->weight) - (x->weight > y->weight);
}

/* Returns the bytes of the objects that are reachable from the state by paths without objects of
   the class 'left'. class[v]: class of object v. 'seen' and 'queue' are buffers with an element for
   each object. */
static uint64_t without (const Graph *g, const uint32_t *class, uint32_t left,
                         unsigned char *seen, uint32_t *queue) {
  uint64_t bytes = 0;
  uint32_t n = 1, to;
  Way way;
  memset(seen, 0, g->n);
  seen[0] = 1;
  queue[0] = 0;
  while (n > 0) {
    uint32_t v = queue[--n];
    size_t i = 0;
    bytes += graph_size(g, v);
    while (graph_edge(g, v, &i, &to, &way))
      if (!seen[to] && class[to] != left) {
        seen[to] = 1;
        queue[n++] = to;
      }
  }
  return bytes;
}

/* Lists the classes of objects for which retained() may return too few bytes, in descending order
   of 'weight'. Returns the number of these classes.
   class  class[v]: class of object v, a number less than 'classes'
   list   receives the result; has an element for each class
   count  count[c] becomes the number of objects of class c; must be 0 before the call */
static uint32_t candidates (const Heap *h, const uint32_t *class, uint32_t classes, Candidate *list,
                            uint32_t *count) {
  const Graph *g = h->graph;
  const Dominators *d = &h->dominators;
  uint32_t v, to, n = 0;
  Way way;
  for (v = 0; v < classes; v++) list[v] = (Candidate){v, 0};
  for (v = 1; v < g->n; v++) {
    Candidate *c = &list[class[v]];
    size_t i = 0;
    count[class[v]]++;
    while (graph_edge(g, v, &i, &to, &way))
      if (class[to] != class[v]) c->weight += d->dominator[to] == v ? 1 : d->retained[to];
  }
  for (v = 0; v < classes; v++)
    if (count[v] > 1 && list[v].weight > 0 && v != class[0]) list[n++] = list[v];
  qsort(list, n, sizeof(*list), byweight);
  return n;
}

/* Corrects bytes[c], the result of retained(), for each class c that candidates() lists: sets it to
   the bytes that would be unreachable without the objects of the class. After EXACT_EDGES visits,
   corrects no further class: sets least[c] to 1, because bytes[c] is only a lower bound. Returns 0
   if out of memory. */
static int together (const Heap *h, const uint32_t *class, uint32_t classes, uint64_t *bytes,
                     unsigned char *least) {
  const Graph *g = h->graph;
  Candidate *list = malloc((classes + (size_t)1) * sizeof(*list));
  uint32_t *count = calloc(classes + (size_t)1, sizeof(*count));
  unsigned char *seen = malloc(g->n);
  uint32_t *queue = malloc((size_t)g->n * sizeof(*queue));
  uint64_t all = 0, cost = (uint64_t)g->nedges + g->nlate + g->n, spent = 0;
  int ok = list != NULL && count != NULL && seen != NULL && queue != NULL;
  if (ok) {
    uint32_t i, n = candidates(h, class, classes, list, count), v;
    for (v = 0; v < g->n; v++) all += graph_size(g, v);
    for (i = 0; i < n; i++) {
      uint32_t c = list[i].class;
      spent += cost;
      if (spent > EXACT_EDGES) least[c] = 1;
      else bytes[c] = all - without(g, class, c, seen, queue);
    }
  }
  free(list);
  free(count);
  free(seen);
  free(queue);
  return ok;
}

/* Pushes a userdata with n zeroed bytes. Returns their address. */
static void *scratch (lua_State *L, size_t n) {
  return memset(lua_newuserdatauv(L, n, 0), 0, n);
}

/* Pushes a userdata with n zeroed bytes and the finalizer 'end'. Returns their address. */
static void *scratchwith (lua_State *L, size_t n, lua_CFunction end) {
  void *p = scratch(L, n);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, end);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return p;
}

/* heap:classes() -> {{name, count (of objects), self (their own bytes), retained (bytes that they
   retain), least (true: 'retained' is a lower bound)}, ...} */
static int l_classes (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  uint32_t v, i, k = 0;
  ClassRow *rows = scratch(L, h->naming.n * sizeof(*rows));
  uint64_t *bytes = scratch(L, h->naming.n * sizeof(*bytes));
  unsigned char *least = scratch(L, h->naming.n);
  if (!retained(h, h->naming.class, h->naming.n, bytes) ||
      !together(h, h->naming.class, h->naming.n, bytes, least))
    return luaL_error(L, "not enough memory");
  for (v = 1; v < h->graph->n; v++) {
    ClassRow *r = &rows[h->naming.class[v]];
    r->count++;
    r->self += graph_size(h->graph, v);
  }
  rows[HEAP_KINDS].self += h->graph->state;
  /* HEAP_KINDS is also the class of object 0, the Lua state. The state retains all objects. This
     total would not help the user, so the row of the class has only the state's own bytes. */
  bytes[HEAP_KINDS] += h->graph->state;
  lua_createtable(L, (int)h->naming.n, 0);
  for (i = 0; i < h->naming.n; i++) {
    if (rows[i].count == 0 && rows[i].self == 0) continue;
    lua_createtable(L, 0, 4);
    setstring(L, "name", h->naming.names[i]);
    setinteger(L, "count", rows[i].count);
    setinteger(L, "self", rows[i].self);
    setinteger(L, "retained", bytes[i]);
    if (least[i]) setboolean(L, "least", 1);
    lua_rawseti(L, -2, (lua_Integer)++k);
  }
  return 1;
}

/* }===================================================================== */

/* {== sites ============================================================ */

/* Totals of an allocation site: number of samples, bytes that they represent, number of sampled
   objects, their own bytes, sum of the ages of the samples in ms. */
typedef struct SiteRow {
  uint64_t samples, bytes, objects, self, age;
} SiteRow;

/* Computes the totals of each allocation site, in zeroed rows. Only samples of objects v with
   wanted[v] != 0 count; if 'wanted' is NULL, all samples count. Sets site[v] to the site of the
   first counted sample of object v, or to g->nsites if object v has no counted sample. */
static void sitesof (const Graph *g, const unsigned char *wanted, SiteRow *rows,
                     uint32_t *site) {
  size_t i;
  uint32_t v;
  for (v = 0; v < g->n; v++) site[v] = g->nsites;
  for (i = 0; i < g->nsamples; i++) {
    const Sample *s = &g->samples[i];
    SiteRow *r = &rows[s->site];
    if (wanted != NULL && !wanted[s->object]) continue;
    r->samples++;
    r->bytes += s->bytes;
    r->age += s->age < UINT32_MAX ? s->age : UINT32_MAX;
    /* The object is counted already: a table has a sample for each of its parts that was
       sampled. */
    if (site[s->object] != g->nsites) continue;
    site[s->object] = s->site;
    r->objects++;
    r->self += graph_size(g, s->object);
  }
}

/* Sets the fields of an allocation site in the table on top of the stack. The unknown site 0 has
   only its number. */
static void setsite (lua_State *L, const Graph *g, uint32_t site) {
  const Site *s = &g->sites[site];
  setinteger(L, "site", site);
  if (site == 0) return;
  setstring(L, "name", s->name);
  setstring(L, "source", s->source);
  setinteger(L, "defined", s->defined);
  setinteger(L, "line", s->line);
}

/* Pushes the result of l_sites. For each site i, bytes[i] is the number of retained bytes, and
   least[i] is 1 if bytes[i] is a lower bound. */
static void pushsites (lua_State *L, const Graph *g, const SiteRow *rows, const uint64_t *bytes,
                       const unsigned char *least) {
  uint32_t i, k = 0;
  lua_createtable(L, 0, 0);
  for (i = 0; i < g->nsites; i++) {
    const SiteRow *r = &rows[i];
    if (r->samples == 0) continue;
    lua_createtable(L, 0, 12);
    setsite(L, g, i);
    setinteger(L, "samples", r->samples);
    setinteger(L, "bytes", r->bytes);
    setinteger(L, "objects", r->objects);
    setinteger(L, "self", r->self);
    setinteger(L, "retained", bytes[i]);
    if (least[i]) setboolean(L, "least", 1);
    setinteger(L, "age", r->age / r->samples);
    lua_rawseti(L, -2, (lua_Integer)++k);
  }
}

static uint32_t classfield (lua_State *L, const Heap *h);
static const unsigned char *newfield (lua_State *L, const Heap *h);

/* heap:sites{class} or heap:sites{new} or heap:sites{} -> {{site, name, source, defined, line,
   samples, bytes (that the samples represent), objects, self, retained and least (see
   heap:classes), age (mean, ms)}, ...}: the allocation sites of the objects of a class, of the new
   objects, or of all sampled objects; nil: no such class. */
static int l_sites (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  const Graph *g = h->graph;
  const unsigned char *wanted;
  uint32_t class = GRAPH_NONE, v, *site;
  SiteRow *rows;
  uint64_t *bytes;
  unsigned char *least;
  luaL_checktype(L, 2, LUA_TTABLE);
  wanted = newfield(L, h);
  lua_getfield(L, 2, "class");
  if (!lua_isnil(L, -1) && (class = classfield(L, h)) == GRAPH_NONE) return 0;
  if (class != GRAPH_NONE) {
    unsigned char *ofclass = scratch(L, g->n);
    for (v = 0; v < g->n; v++) ofclass[v] = h->naming.class[v] == class;
    wanted = ofclass;
  }
  rows = scratch(L, g->nsites * sizeof(*rows));
  site = scratch(L, (size_t)g->n * sizeof(*site));
  bytes = scratch(L, ((size_t)g->nsites + 1) * sizeof(*bytes));
  least = scratch(L, (size_t)g->nsites + 1);
  sitesof(g, wanted, rows, site);
  if (g->nsamples > 0 && (!retained(h, site, g->nsites + 1, bytes) ||
                          !together(h, site, g->nsites + 1, bytes, least)))
    return luaL_error(L, "not enough memory");
  pushsites(L, g, rows, bytes, least);
  return 1;
}

/* }===================================================================== */

/* {== trees ============================================================ */

/* Pushes a row as a table, with the fields of MergeRow. */
static void pushrow (lua_State *L, const Heap *h, const MergeRow *r) {
  char text[WORDS_MOST];
  lua_createtable(L, 0, 12);
  setinteger(L, "depth", r->depth);
  if (r->above != GRAPH_NONE)
    setinteger(L, "above", (uint64_t)r->above + 1);
  words_step(h->graph, r->from, r->example, r->way, r->merged, text);
  setstring(L, "text", text);
  setinteger(L, "kind", way_kind(r->way));
  setboolean(L, "together", r->together);
  if (r->class < h->naming.n)
    setstring(L, "class", h->naming.names[r->class]);
  if (h->graph->kind[r->example] == HEAP_FUNCTION) {
    words_function(h->graph, r->example, text);
    setstring(L, "function", text);
  }
  setinteger(L, "count", r->count);
  setinteger(L, "self", r->self);
  setinteger(L, "value", r->value);
  setinteger(L, "address", h->graph->address[r->example]);
  setboolean(L, "merged", r->merged);
  setboolean(L, "repeated", r->repeated);
}

/* Pushes a list of the rows of a merged tree (merge.h) and a table with its totals. Returns 2. */
static int pushmerge (lua_State *L, const Heap *h, const Merge *m) {
  size_t i;
  lua_createtable(L, (int)m->n, 0);
  for (i = 0; i < m->n; i++) {
    pushrow(L, h, &m->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, 0, 5);
  setinteger(L, "count", m->count);
  setinteger(L, "self", m->self);
  setinteger(L, "value", m->value);
  setinteger(L, "left", m->left);
  setinteger(L, "cut", m->cut);
  return 2;
}

/* __gc of a userdata with a Merge (merge.h) */
static int endmerge (lua_State *L) {
  merge_free(lua_touserdata(L, 1));
  return 0;
}

/* Sets *w to the arguments of merge_of for a tree of dominators. The table at index 2 may have the
   options 'least', the smallest 'value' of a row, and 'most', the largest number of rows. */
static void wish (lua_State *L, const Heap *h, MergeWish *w) {
  luaL_checktype(L, 2, LUA_TTABLE);
  memset(w, 0, sizeof(*w));
  w->graph = h->graph;
  w->naming = &h->naming;
  w->dominators = &h->dominators;
  w->least = (uint64_t)integer(L, "least", 0);
  w->most = (uint32_t)integer(L, "most", 10000);
}

/* heap:tree{least, most} -> rows of the tree of dominators, totals (see pushmerge) */
static int l_tree (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  MergeWish w;
  Merge *m = scratchwith(L, sizeof(*m), endmerge);
  wish(L, h, &w);
  if (!merge_of(m, &w))
    return luaL_error(L, "not enough memory");
  return pushmerge(L, h, m);
}

/* Returns the class with the name in the option 'class', or GRAPH_NONE. */
static uint32_t classfield (lua_State *L, const Heap *h) {
  const char *name;
  uint32_t i;
  lua_getfield(L, 2, "class");
  name = luaL_checkstring(L, -1);
  for (i = 0; i < h->naming.n; i++)
    if (strcmp(h->naming.names[i], name) == 0) break;
  lua_pop(L, 1);
  return i < h->naming.n && i != HEAP_KINDS ? i : GRAPH_NONE;
}

/* If the option 'new' is true, returns Heap.isnew, which has the new objects, else NULL. Raises an
   error if the heap was not compared with another one. */
static const unsigned char *newfield (lua_State *L, const Heap *h) {
  int isnew;
  lua_getfield(L, 2, "new");
  isnew = lua_toboolean(L, -1);
  lua_pop(L, 1);
  if (isnew && h->isnew == NULL)
    luaL_error(L, "this snapshot was not compared with another one; call compare first");
  return isnew ? h->isnew : NULL;
}

/* Pushes and returns an array of flags: 1 for the objects that were sampled at one of the
   allocation sites in the list at stack index 'list'. */
static unsigned char *ofsites (lua_State *L, const Graph *g, int list) {
  unsigned char *sites = scratch(L, g->nsites), *objects = scratch(L, g->n);
  lua_Integer i, n = (lua_Integer)lua_rawlen(L, list), number;
  size_t k;
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, list, i);
    number = lua_tointeger(L, -1);
    if (number >= 0 && number < (lua_Integer)g->nsites) sites[number] = 1;
    lua_pop(L, 1);
  }
  for (k = 0; k < g->nsamples; k++)
    if (sites[g->samples[k].site]) objects[g->samples[k].object] = 1;
  return objects;
}

/* heap:heldby{class or sites or new, least, most} -> rows, totals (see pushmerge); nil: no such
   class. Returns a tree of the shortest paths from the state to the objects of a class, to the
   objects sampled at a list of allocation sites, or to the new objects. 'least' (default 0): omits
   rows whose objects retain fewer bytes (field 'value'); 'most' (default 10000): largest number of
   rows. */
static int l_heldby (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  MergeWish w;
  Merge *m = scratchwith(L, sizeof(*m), endmerge);
  wish(L, h, &w);
  w.paths = 1;
  w.wanted = newfield(L, h);
  if (w.wanted == NULL && lua_getfield(L, 2, "sites") == LUA_TTABLE)
    w.wanted = ofsites(L, h->graph, lua_gettop(L));
  else if (w.wanted == NULL && (w.class = classfield(L, h)) == GRAPH_NONE)
    return 0;
  return merge_of(m, &w) ? pushmerge(L, h, m) : luaL_error(L, "not enough memory");
}

/* }===================================================================== */

/* {== single objects =================================================== */

/* Pushes the path of references from the state to object v, as a list with a row for each
   reference. If there are more than 64 references, the list has the first 40, a table "(n more)"
   for the references in the middle, and the last 21. parent[], way[]: for each object, its parent
   on a shortest path, and the reference from the parent. */
static void pushpath (lua_State *L, const Heap *h, uint32_t v, const uint32_t *parent,
                      const Way *way) {
  uint32_t u, n = 0, depth = 0, all = 0;
  for (u = v; u != 0; u = parent[u]) all++;
  lua_createtable(L, all < 64 ? (int)all : 64, 0);
  for (u = v, depth = all; u != 0; u = parent[u], depth--) {
    MergeRow r;
    /* skips the references in the middle of a long path; the code below adds a table with the text
       "(n more)" in their place */
    if (all > 64 && depth > 40 && depth < all - 20) continue;
    n = all > 64 && depth >= all - 20 ? depth - (all - 20) + 42 : depth;
    memset(&r, 0, sizeof(r));
    r.above = GRAPH_NONE;
    r.example = u;
    r.from = parent[u];
    r.way = way[u];
    r.class = h->naming.class[u];
    r.count = 1;
    r.merged = 0;
    pushrow(L, h, &r);
    lua_rawseti(L, -2, (lua_Integer)n);
  }
  if (all > 64) {
    lua_createtable(L, 0, 2);
    lua_pushfstring(L, "(%d more)", (int)(all - 61));
    lua_setfield(L, -2, "text");
    setinteger(L, "kind", HEAP_EDGES);
    lua_rawseti(L, -2, 41);
  }
}

/* Pushes the table that heap:path returns for object v: {address, class, self, retained, path} and,
   if the object was sampled, its allocation site and 'age' (ms). */
static void pushobject (lua_State *L, const Heap *h, uint32_t v) {
  const Sample *samples;
  size_t n;
  lua_createtable(L, 0, 12);
  setinteger(L, "address", h->graph->address[v]);
  setstring(L, "class", h->naming.names[h->naming.class[v]]);
  setinteger(L, "self", graph_size(h->graph, v));
  setinteger(L, "retained", h->dominators.retained[v]);
  samples = graph_samples(h->graph, v, &n);
  if (n > 0) {
    setsite(L, h->graph, samples->site);
    setinteger(L, "age", samples->age);
  }
  pushpath(L, h, v, h->graph->parent, h->graph->way);
  lua_setfield(L, -2, "path");
}

/* heap:objects{class, n} -> list of the n objects that retain the most bytes, of the class 'class'
   or, if 'class' is nil, of all classes; nil: no such class. The elements are tables as from
   heap:path. 'n': at most OBJECTS_MOST, default 20. */
static int l_objects (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  const uint64_t *r = h->dominators.retained;
  uint32_t best[OBJECTS_MOST], n, most, v, i, class = GRAPH_NONE;
  luaL_checktype(L, 2, LUA_TTABLE);
  most = (uint32_t)integer(L, "n", 20);
  if (most > OBJECTS_MOST) most = OBJECTS_MOST;
  lua_getfield(L, 2, "class");
  if (lua_type(L, -1) > LUA_TNIL) {
    if ((class = classfield(L, h)) == GRAPH_NONE)
      return 0;
  }
  for (v = 1, n = 0; v < h->graph->n; v++) {
    if (class != GRAPH_NONE && h->naming.class[v] != class) continue;
    if (n == most && (n == 0 || r[best[n - 1]] >= r[v])) continue;
    if (n < most) n++;
    for (i = n - 1; i > 0 && r[best[i - 1]] < r[v]; i--) best[i] = best[i - 1];
    best[i] = v;
  }
  lua_createtable(L, (int)n, 0);
  for (i = 0; i < n; i++) {
    pushobject(L, h, best[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* }===================================================================== */

/* {== two snapshots ==================================================== */

static int byaddress (const void *a, const void *b) {
  const Identity *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

/* Returns a list of all objects, sorted by address, or NULL if out of memory. The caller frees the
   list. */
static Identity *identities (const Graph *g) {
  Identity *a = malloc((size_t)g->n * sizeof(*a));
  uint32_t v;
  if (a == NULL) return NULL;
  for (v = 0; v < g->n; v++) {
    a[v].address = g->address[v];
    a[v].v = v;
  }
  qsort(a, g->n, sizeof(*a), byaddress);
  return a;
}

/* heap:path(address) -> {address, class, self, retained, path (see pushpath) and, if the object was
   sampled, its allocation site and age (ms)}; nil: no such object */
static int l_path (lua_State *L) {
  Heap *h = heaplib_check(L, 1);
  Identity key, *found;
  key.address = (uint64_t)luaL_checkinteger(L, 2);
  if (h->sorted == NULL && (h->sorted = identities(h->graph)) == NULL)
    return luaL_error(L, "not enough memory");
  found = bsearch(&key, h->sorted, h->graph->n, sizeof(key), byaddress);
  if (found == NULL || found->v == 0)
    return 0;
  pushobject(L, h, found->v);
  return 1;
}

/* Pushes two values. Returns an array that has, for each class of the snapshot 'old', the index of
   its row in l_compare. The rows of the classes of 'new' come first. A class of 'old' shares the
   row of the class of 'new' with the same name, if there is one. The array is valid while the first
   pushed value is on the stack. */
static const uint32_t *rowsof (lua_State *L, const Heap *new, const Heap *old) {
  uint32_t i, *rows = scratch(L, old->naming.n * sizeof(*rows));
  lua_createtable(L, 0, (int)new->naming.n);
  for (i = new->naming.n; i-- > 0; ) {
    lua_pushinteger(L, i);
    lua_setfield(L, -2, new->naming.names[i]);
  }
  for (i = 0; i < old->naming.n; i++) {
    int isnew = lua_getfield(L, -1, old->naming.names[i]) == LUA_TNIL;
    rows[i] = isnew ? new->naming.n + i : (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return rows;
}

/* Computes the rows of heap:compare, and sets the flags of the objects that the other heap lacks,
   in h->isnew and old->isnew. Two objects are the same if their address, kind and class name are
   equal. 'a' has the objects of h by address, 'b' those of 'old'. 'rowof': result of rowsof. */
static void comparesorted (Heap *h, Heap *old, const Identity *a, const Identity *b,
                           ClassRow *rows, const uint32_t *rowof) {
  const Graph *g = h->graph, *f = old->graph;
  uint32_t i = 1, k = 1;  /* object 0 is the state */
  rows[HEAP_KINDS].grown = (int64_t)(g->state - f->state);
  while (i < g->n || k < f->n) {
    int order = i == g->n ? 1 : k == f->n ? -1
              : (a[i].address > b[k].address) - (a[i].address < b[k].address);
    uint32_t v = i < g->n ? a[i].v : 0, u = k < f->n ? b[k].v : 0;
    if (order == 0 && g->kind[v] == f->kind[u] &&
        strcmp(h->naming.names[h->naming.class[v]],
               old->naming.names[old->naming.class[u]]) == 0) {
      rows[h->naming.class[v]].grown += (int64_t)(graph_size(g, v) - graph_size(f, u));
      i++;
      k++;
      continue;
    }
    if (order <= 0) {
      ClassRow *r = &rows[h->naming.class[v]];
      h->isnew[v] = 1;
      r->new++;
      r->newbytes += graph_size(g, v);
      i++;
    }
    if (order >= 0) {
      ClassRow *r = &rows[rowof[old->naming.class[u]]];
      old->isnew[u] = 1;
      r->gone++;
      r->gonebytes += graph_size(f, u);
      k++;
    }
  }
}

/* Pushes the result of heap:compare: a table for each class whose objects differ between the
   snapshots. */
static void pushcompared (lua_State *L, const Heap *h, const Heap *old, const ClassRow *rows) {
  uint32_t i, n = 0;
  lua_createtable(L, (int)h->naming.n, 0);
  for (i = 0; i < h->naming.n + old->naming.n; i++) {
    const ClassRow *r = &rows[i];
    if (r->new == 0 && r->gone == 0 && r->grown == 0) continue;
    lua_createtable(L, 0, 6);
    setstring(L, "name", i < h->naming.n ? h->naming.names[i]
                                         : old->naming.names[i - h->naming.n]);
    setinteger(L, "new", r->new);
    setinteger(L, "newbytes", r->newbytes);
    setinteger(L, "gone", r->gone);
    setinteger(L, "gonebytes", r->gonebytes);
    setinteger(L, "grown", (uint64_t)r->grown);
    lua_rawseti(L, -2, (lua_Integer)++n);
  }
}

/* heap:compare(old) -> {{name, new and gone (numbers of objects), newbytes, gonebytes, grown (bytes
   by which objects in both snapshots have grown)}, ...}, a table for each class. Afterwards the
   option 'new' of the methods of one heap selects the objects that the other heap lacks. */
static int l_compare (lua_State *L) {
  Heap *h = heaplib_check(L, 1);
  Heap *old = heaplib_check(L, 2);
  ClassRow *rows = scratch(L, ((size_t)h->naming.n + old->naming.n) * sizeof(*rows));
  const uint32_t *rowof = rowsof(L, h, old);
  Identity *a = identities(h->graph), *b = identities(old->graph);
  int ok;
  free(h->isnew);
  h->isnew = calloc(h->graph->n, 1);
  if (old != h) {
    free(old->isnew);
    old->isnew = calloc(old->graph->n, 1);
  }
  ok = a != NULL && b != NULL && h->isnew != NULL && old->isnew != NULL;
  if (ok) comparesorted(h, old, a, b, rows, rowof);
  free(a);
  free(b);
  if (ok) pushcompared(L, h, old, rows);
  return ok ? 1 : luaL_error(L, "not enough memory");
}

/* }===================================================================== */

/* {== heap:cut: the effect of removing a reference ====================== */

/* Sets the fields of the result of heap:cut that count the samples of objects v with wanted[v] !=
   0. If one of these objects stays reachable, sets 'also' to a path to it. */
static void pushsampled (lua_State *L, const Heap *h, const Cut *c, const unsigned char *wanted) {
  const Graph *g = h->graph;
  uint64_t samples = 0, bytes = 0, freed = 0, freedbytes = 0;
  uint32_t stays = 0;
  size_t i;
  for (i = 0; i < g->nsamples; i++) {
    const Sample *s = &g->samples[i];
    if (!wanted[s->object]) continue;
    samples++;
    bytes += s->bytes;
    if (c->reached[s->object]) stays = s->object;
    else {
      freed++;
      freedbytes += s->bytes;
    }
  }
  setinteger(L, "samples", samples);
  setinteger(L, "samplebytes", bytes);
  setinteger(L, "freedsamples", freed);
  setinteger(L, "freedbytes", freedbytes);
  if (stays == 0) return;
  pushpath(L, h, stays, c->parent, c->way);
  lua_setfield(L, -2, "also");
}

/* __gc of a userdata with a Cut (cut.h) */
static int endcut (lua_State *L) {
  cut_free(lua_touserdata(L, 1));
  return 0;
}

/*
** heap:cut{steps, sites, elements} -> {freed, objects, references, samples, samplebytes,
** freedsamples, freedbytes, also}; on failure nil, reason.
**
** Computes the effect of removing the last reference of the path 'steps' (cut.h). If 'elements' is
** true, removes the references to the elements of the table at the end of the path instead.
**
**   - freed, objects: bytes and number of the freed objects
**   - references: number of removed references
**   - samples, samplebytes: number of samples of the allocation sites 'sites', and the bytes that
**     they represent
**   - freedsamples, freedbytes: the part of 'samples' and 'samplebytes' whose objects are freed
**   - also: a path of references to one of the objects of these samples that is not freed; nil if
**     all of them are freed
*/
static int l_cut (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  const char **steps, *why;
  unsigned char *wanted;
  Cut *c;
  CutHow how;
  size_t n, i;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_getfield(L, 2, "elements");
  how = lua_toboolean(L, -1) ? CUT_ELEMENTS : CUT_REFERENCE;
  lua_getfield(L, 2, "steps");
  luaL_checktype(L, -1, LUA_TTABLE);
  n = (size_t)lua_rawlen(L, -1);
  steps = lua_newuserdatauv(L, (n + 1) * sizeof(*steps), 0);
  luaL_checkstack(L, (int)(n < 1000000 ? n : 1000000) + LUA_MINSTACK, NULL);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    steps[i] = luaL_checkstring(L, -1);
  }
  lua_getfield(L, 2, "sites");
  luaL_checktype(L, -1, LUA_TTABLE);
  wanted = ofsites(L, h->graph, lua_gettop(L));
  c = scratchwith(L, sizeof(*c), endcut);
  if (!cut_of(c, h->graph, steps, n, how, &why))
    return pushfailure(L, why);
  lua_createtable(L, 0, 8);
  setinteger(L, "freed", c->freed);
  setinteger(L, "objects", c->objects);
  setinteger(L, "references", c->references);
  pushsampled(L, h, c, wanted);
  cut_free(c);
  return 1;
}

/* }===================================================================== */

/* heap:devtools(path [, how]) -> true: writes the snapshot as a file for Chrome's DevTools
   (devtools.h); on failure nil, message. 'how' selects the compression, OUTPUT_PLAIN, ...
   (output.h). */
static int l_devtools (lua_State *L) {
  const Heap *h = heaplib_check(L, 1);
  const char *path = luaL_checkstring(L, 2);
  int how = (int)luaL_optinteger(L, 3, 0);
  char err[512];
  if (!devtools_write(h->graph, &h->naming, path, how, err, sizeof(err)))
    return pushfailure(L, err);
  lua_pushboolean(L, 1);
  return 1;
}

int luaopen_profiler_heap (lua_State *L) {
  static const luaL_Reg functions[] = {{"open", heaplib_open}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
    {"info", l_info}, {"classes", l_classes}, {"sites", l_sites}, {"tree", l_tree},
    {"heldby", l_heldby}, {"objects", l_objects}, {"compare", l_compare}, {"path", l_path},
    {"cut", l_cut}, {"devtools", l_devtools}, {"close", heaplib_gc}, {"__gc", heaplib_gc},
    {NULL, NULL}
  };
  if (!binding_open(L, "profiler.heap", 0)) return 0;
  luaL_newmetatable(L, TYPENAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  setinteger(L, "OBJECTS", OBJECTS_MOST);
  return 1;
}
