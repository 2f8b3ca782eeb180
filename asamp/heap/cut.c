/* SPDX-License-Identifier: MIT */
/* Computes how many bytes a removed reference frees (cut.h). */
#include "cut.h"
#include "heapformat.h"
#include "list.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOMEMORY	"not enough memory"
#define STEPS_MOST	250u	/* largest number of steps of a path */
#define DEAD	255u	/* result of stepsto: the object's path differs from w->steps */
#define UNKNOWN	254u	/* placeholder for a result of stepsto that is not computed yet */
#define ELLIPSIS	"…"

/* Flags of an object. All except VARIABLE select references to or from the object, which are
   removed. */
enum {
  /* removes the reference to this object from its parent */
  OWN = 1,
  /* removes the reference from this object, an upvalue, to its value */
  VALUE = 2,
  /* removes all references from this object, a table, to its keys and values */
  ELEMENTS = 4,
  /* removes the references to this object as a key, from all tables with the flag HOLDER */
  KEY = 8,
  /* This object is a table: removes its references to those of its keys that have the flag KEY. */
  HOLDER = 16,
  /* This object is the value of an upvalue that is removed. The flag itself removes nothing:
     removelocals uses it to find the local variable that has the same value. */
  VARIABLE = 32,
  /* removes the references to this object from local variables with the name w->variable, in the
     function with the prototype w->proto[object] */
  LOCAL = 64
};

/* A field of a table with weak keys. Marking has reached either its key or the table, but not both;
   its value is reached when both are. */
typedef struct Waiting {
  /* from: the key or the table, whichever was reached first. to: the value. next: index + 1 of the
     next Waiting for the same key or table that is not reached yet; 0: none. */
  uint32_t from, to, next;
  Way way;	/* the reference from 'from' to 'to' */
} Waiting;

typedef struct Work {
  const Graph *g;
  Cut *c;
  unsigned char *flags;		/* flags[v]: sum of the flags OWN to LOCAL of object v */
  const char *const *steps;	/* the path given to cut_of */
  size_t n;
  /* If the path ends at a local variable or upvalue: the string object with its name; else
     GRAPH_NONE. The variable is removed as a whole, with all its upvalues. */
  uint32_t variable;
  /* proto[v], for each object v that is the value of a removed variable: a prototype; GRAPH_NONE:
     unknown. If v has the flag LOCAL, this is the prototype of the function that declares the
     variable. If v has only the flag VARIABLE, this is the prototype of the function that has the
     variable as an upvalue. The array is NULL if no variable is removed. */
  uint32_t *proto;
  uint32_t *protoparent;	/* for each prototype: the prototype in which it is nested, or
                                   GRAPH_NONE. The array is NULL if 'proto' is NULL */
} Work;

/* {== the path ========================================================= */

/* Returns 1 if the text matches the pattern, in which an ellipsis represents any bytes. */
static int islike (const char *pattern, const char *text) {
  const char *star = NULL, *from = text;
  for (;;) {
    if (strncmp(pattern, ELLIPSIS, sizeof(ELLIPSIS) - 1) == 0) {
      star = pattern += sizeof(ELLIPSIS) - 1;
      from = text;
    }
    else if (*pattern == *text) {
      if (*text == '\0') return 1;
      pattern++;
      text++;
    }
    else if (star != NULL && *from != '\0') {
      pattern = star;
      text = ++from;
    }
    else return 0;
  }
}

/* Returns 1 if v is the table package.loaded. */
static int isloaded (const Graph *g, uint32_t v) {
  return v != 0 && words_isregistry(g, g->parent[v]) && way_kind(g->way[v]) == HEAP_EFIELD &&
         graph_is(g, way_argument(g->way[v]), "_LOADED");
}

/* Returns 1 if a path in the form of w->steps starts with the reference to v: v is in the stack of
   the main thread, an array element of the registry, package.loaded, or in a field of it. */
static int istop (const Graph *g, uint32_t v) {
  uint32_t from = g->parent[v];
  int kind = way_kind(g->way[v]);
  if (words_isregistry(g, from))
    return kind == HEAP_EINDEX || isloaded(g, v);
  if (isloaded(g, from))
    return kind == HEAP_EFIELD;
  return g->kind[from] == HEAP_THREAD && g->info[from] == 1 &&
         (kind == HEAP_ELOCAL || kind == HEAP_ESTACK || kind == HEAP_ECODE);
}

/* Returns 1 if the text 'step' describes the reference from v's parent to v. With 'merged' 1,
   'step' describes several such references, for example as "[1..n]". */
static int describes (const Graph *g, const char *step, uint32_t v, int merged) {
  char text[WORDS_MOST], full[WORDS_MOST + 16];
  uint32_t from = g->parent[v], key = way_argument(g->way[v]);
  int kind = way_kind(g->way[v]);
  size_t n;
  if (kind == HEAP_EFIELD && strcmp(step, "[*]") == 0 && !isloaded(g, from))
    return 1;
  words_step(g, from, v, g->way[v], merged, text);
  if (kind == HEAP_EFIELD && !merged && strcmp(text, "package.loaded") != 0) {
    const char *name = graph_text(g, key, &n);
    snprintf(text, sizeof(text), "[\"%.*s\"]", (int)n, name);
  }
  if (isloaded(g, from) && kind == HEAP_EFIELD) {
    snprintf(full, sizeof(full), "package.loaded%s", text);
    return islike(step, full);
  }
  return islike(step, text);
}

/* Returns 1 if the text w->steps[step] describes the reference from v's parent to v. The text may
   describe this reference alone, such as "[3]", or several references, such as "[1..n]". */
static int matches (const Work *w, size_t step, uint32_t v) {
  return describes(w->g, w->steps[step], v, 0) || describes(w->g, w->steps[step], v, 1);
}

/* Returns 1 if v is a function in a field whose key is the function's name. */
static int isnamesake (const Graph *g, uint32_t v) {
  const struct Proto *p;
  size_t n, m;
  const char *a, *b;
  if (g->kind[v] != HEAP_FUNCTION || g->info[v] == GRAPH_NONE || way_kind(g->way[v]) != HEAP_EFIELD)
    return 0;
  p = &g->protos[g->info[g->info[v]]];
  a = graph_text(g, way_argument(g->way[v]), &n);
  b = graph_text(g, p->name, &m);
  return n == m && n > 0 && memcmp(a, b, n) == 0;
}

/* Compares the shortest path to v, whose last reference leads to v, with w->steps. Returns n if the
   path is described by the first n elements of w->steps; DEAD if it differs from w->steps, or is
   longer. 'above': the result for v's parent on the path. */
static unsigned stepsto (const Work *w, uint32_t v, unsigned above) {
  const Graph *g = w->g;
  int top = istop(g, v);
  if (top) above = 0;
  if (above == DEAD || above == w->n) return DEAD;
  if (way_kind(g->way[v]) == HEAP_EVALUE) return above;
  if (matches(w, above, v)) return above + 1;
  /* successive equal references, as in a linked list, are one element of w->steps */
  if (above > 0 && !top && matches(w, above - 1, v)) return above;
  /* w->steps omits a field whose key is the name of the function in it: the next step, an upvalue
     of that function, contains the name */
  if (isnamesake(g, v)) return above;
  return g->parent[v] == 0 && (words_isregistry(g, v) || g->kind[v] == HEAP_THREAD) ? 0 : DEAD;
}

/* Finds all objects whose shortest paths match w->steps, the path given by the user, and sets
   *count to their number. Sets their flag OWN: the last reference of each of these paths is
   removed. Returns 0 if out of memory. */
static int findends (Work *w, uint64_t *count) {
  const Graph *g = w->g;
  unsigned char *at = malloc(g->n);
  uint32_t *path = NULL;
  size_t size = 0;
  uint32_t v;
  *count = 0;
  if (at == NULL) return 0;
  memset(at, UNKNOWN, g->n);
  at[0] = 0;
  for (v = 1; v < g->n; v++) {
    size_t n = 0;
    uint32_t u = v;
    /* a short loop: most parents have lower numbers than their children, so at[parent] is computed
       already */
    for (; at[u] == UNKNOWN; u = g->parent[u]) {
      if (!list_grow(&path, n, &size, sizeof(*path))) {
        free(path);
        free(at);
        return 0;
      }
      path[n++] = u;
    }
    while (n > 0) {
      u = path[--n];
      at[u] = (unsigned char)stepsto(w, u, at[g->parent[u]]);
      if (at[u] == w->n) {
        w->flags[u] |= OWN;
        (*count)++;
      }
    }
  }
  free(path);
  free(at);
  return 1;
}

/* }===================================================================== */

/* {== removal ========================================================== */

/* Returns the reason why Lua code cannot remove the reference from v's parent to v; NULL if Lua
   code can. */
static const char *fixed (const Graph *g, uint32_t v) {
  uint32_t from = g->parent[v];
  switch (way_kind(g->way[v])) {
    case HEAP_EROOT: return "the Lua state itself holds this object, and no Lua code can remove "
                            "that reference";
    case HEAP_EINDEX:
      return words_isregistry(g, from) && way_argument(g->way[v]) <= 2
             ? "the object is the table of globals or the main thread, which no Lua code can "
               "remove" : NULL;
    case HEAP_EFIELD:
      return isloaded(g, v) ? "the object is package.loaded, which cannot be removed" : NULL;
    case HEAP_EUSERVALUE: return "a user value of a userdata holds this object, and only C code "
                                 "can remove that reference";
    case HEAP_EUPVALUE:
      return g->kind[from] == HEAP_CFUNCTION
             ? "an upvalue of a C function holds this object, and only C code can remove that "
               "reference" : NULL;
    case HEAP_ESTACK: case HEAP_ECODE: case HEAP_EOPEN:
      return "a stack slot without a local variable holds this object, and no Lua code can clear "
             "that slot";
    case HEAP_EPROTO: case HEAP_ECONSTANT: case HEAP_ENAME:
      return "the code of a function holds this object, and no Lua code can remove that reference";
    default: return NULL;
  }
}

/* Allocates w->proto. Computes w->protoparent, the nesting of prototypes. Returns 0 if out of
   memory. */
static int nest (Work *w) {
  const Graph *g = w->g;
  uint32_t v, to;
  Way way;
  w->proto = malloc((size_t)g->n * sizeof(*w->proto));
  w->protoparent = malloc((size_t)g->n * sizeof(*w->protoparent));
  if (w->proto == NULL || w->protoparent == NULL) return 0;
  memset(w->protoparent, 0xff, (size_t)g->n * sizeof(*w->protoparent));
  for (v = 1; v < g->n; v++) {
    size_t i = 0;
    if (g->kind[v] != HEAP_PROTO) continue;
    while (graph_edge(g, v, &i, &to, &way))
      if (way_kind(way) == HEAP_EPROTO) w->protoparent[to] = v;
  }
  return 1;
}

/* Returns 1 if prototype p is nested in 'outer', up to 255 deep. */
static int isinside (const Work *w, uint32_t p, uint32_t outer) {
  unsigned i;
  /* the number of steps is limited, because prototypes of a damaged file may be nested in a
     cycle */
  for (i = 0; i < 255 && p != GRAPH_NONE; i++) {
    p = w->protoparent[p];
    if (p == outer) return p != GRAPH_NONE;
  }
  return 0;
}

/* Returns the description of the upvalue or local variable by which a reference of kind UPVALUE or
   LOCAL refers to an object; NULL: unknown. */
static const Slot *slotof (const Graph *g, Way way) {
  return way_argument(way) < g->nslots ? &g->slots[way_argument(way)] : NULL;
}

/* Returns 1 if both objects are strings with the same, nonempty text. */
static int samename (const Graph *g, uint32_t a, uint32_t b) {
  size_t n, m;
  const char *s = graph_text(g, a, &n), *t = graph_text(g, b, &m);
  return n > 0 && n == m && memcmp(s, t, n) == 0;
}

/* Finds the local variables to which removed upvalues refer. Such a variable has these properties:
   - its name is w->variable
   - its value has the flag VARIABLE, because a removed upvalue has the same value
   - the upvalue's function, w->proto[value], is nested in the variable's function
   Sets the flag LOCAL of the value, so that the variable's reference to it is removed. Sets
   w->proto[value] to the prototype of the variable's function. */
static void removelocals (Work *w) {
  const Graph *g = w->g;
  uint32_t v, to;
  Way way;
  for (v = 1; v < g->n; v++) {
    size_t i = 0;
    if (g->kind[v] != HEAP_THREAD) continue;
    while (graph_edge(g, v, &i, &to, &way)) {
      const Slot *s = way_kind(way) == HEAP_ELOCAL ? slotof(g, way) : NULL;
      if (s != NULL && (w->flags[to] & (VARIABLE | LOCAL)) == VARIABLE &&
          samename(g, s->name, w->variable) && isinside(w, w->proto[to], s->in)) {
        w->flags[to] |= LOCAL;
        w->proto[to] = s->in;
      }
    }
  }
}

/* Finds the upvalues that refer to the removed variable, and sets their flag VALUE, so that the
   references to their values are removed. Such an upvalue has these properties:
   - its name is w->variable
   - its value has the flag LOCAL
   - its function is nested in w->proto[value], the function that declares the variable, or
     w->proto[value] is unknown */
static void removeupvalues (Work *w) {
  const Graph *g = w->g;
  uint32_t v, to, of;
  Way way, own;
  for (v = 1; v < g->n; v++) {
    size_t i = 0;
    if (g->kind[v] != HEAP_FUNCTION) continue;
    while (graph_edge(g, v, &i, &to, &way)) {
      const Slot *s = way_kind(way) == HEAP_EUPVALUE ? slotof(g, way) : NULL;
      size_t k = 0;
      if (s == NULL || g->kind[to] != HEAP_UPVALUE || !graph_edge(g, to, &k, &of, &own) ||
          !(w->flags[of] & LOCAL) || !samename(g, s->name, w->variable))
        continue;
      if (w->proto[of] == GRAPH_NONE || isinside(w, s->in, w->proto[of]))
        w->flags[to] |= VALUE;
    }
  }
}

/* Stores the name and function of the variable that is removed: the upvalue v, or the local
   variable that refers to object v. Sets the flag VARIABLE or LOCAL of the variable's value. By
   this flag, removelocals finds the variable's stack slot, and removeupvalues finds its upvalues,
   because they have the same value. Returns 0 if out of memory. */
static int removevariable (Work *w, uint32_t v) {
  const Graph *g = w->g;
  const Slot *s = slotof(g, g->way[v]);
  uint32_t value = v;
  size_t i = 0;
  Way way;
  if (s == NULL) return 1;
  if (w->proto == NULL && !nest(w)) return 0;
  if (way_kind(g->way[v]) == HEAP_ELOCAL)
    w->flags[v] |= LOCAL;
  else if (graph_edge(g, v, &i, &value, &way))
    w->flags[value] |= VARIABLE;
  else
    return 1;
  w->variable = s->name;
  w->proto[value] = s->in;
  return 1;
}

/* Sets the flags of the references that are removed. Does so for each object with the flag OWN, to
   which the user's path leads:
   - with CUT_ELEMENTS: all references from the object, a table, to its keys and values
   - with CUT_REFERENCE: the reference from its parent to the object or, if the object is an
     upvalue, from the object to its value. References that disappear together with this one are
     removed, too, such as that from a table to the key of the removed field.
   Returns NULL, or why a reference cannot be removed. */
static const char *flag (Work *w, CutHow how) {
  const Graph *g = w->g;
  uint32_t v;
  for (v = 1; v < g->n; v++) {
    const char *why;
    uint32_t from = g->parent[v], key = way_argument(g->way[v]);
    int kind = way_kind(g->way[v]);
    if (!(w->flags[v] & OWN)) continue;
    if ((why = fixed(g, v)) != NULL) return why;
    if (how == CUT_ELEMENTS) {
      w->flags[v] = (unsigned char)((w->flags[v] & ~OWN) | ELEMENTS);
      continue;
    }
    if ((kind == HEAP_EFIELD || kind == HEAP_EENTRY) && key < g->n) {
      w->flags[key] |= KEY;
      w->flags[from] |= HOLDER;
    }
    if (kind == HEAP_EUPVALUE)
      w->flags[v] = (unsigned char)((w->flags[v] & ~OWN) | VALUE);
    if ((kind == HEAP_EUPVALUE || kind == HEAP_ELOCAL) && !removevariable(w, v))
      return NOMEMORY;
  }
  if (w->proto != NULL) {
    removelocals(w);
    removeupvalues(w);
  }
  return NULL;
}

/* Returns 1 if the reference 'way' from v to 'to' counts as removed according to the flags of both
   objects. */
static int isremoved (const Work *w, uint32_t v, uint32_t to, Way way) {
  const Graph *g = w->g;
  int kind = way_kind(way);
  unsigned f = w->flags[v], t = w->flags[to];
  if (((f | t) & (OWN | VALUE | ELEMENTS | KEY | LOCAL)) == 0) return 0;
  if ((f & VALUE) && kind == HEAP_EVALUE) return 1;
  if ((f & ELEMENTS) && (kind == HEAP_EINDEX || kind == HEAP_EFIELD || kind == HEAP_EENTRY ||
                         kind == HEAP_EKEY || kind == HEAP_EWEAKKEY))
    return 1;
  if ((f & HOLDER) && (t & KEY) && kind == HEAP_EKEY) return 1;
  if ((t & OWN) && g->parent[to] == v && g->way[to] == way) return 1;
  if ((t & LOCAL) && kind == HEAP_ELOCAL) {
    const Slot *s = slotof(g, way);
    return s != NULL && s->in == w->proto[to] && samename(g, s->name, w->variable);
  }
  return 0;
}

/* }===================================================================== */

/* {== marking ========================================================== */

typedef struct Marking {
  Work *w;
  uint32_t *queue, n;		/* the reached objects, in the order in which they were reached */
  /* heads[v], for each weak key or table with weak keys v that is not reached yet: 1 + the index in
     'waiting' of the first entry for v, whose value is reached as soon as v is reached; 0: none.
     The array is NULL before the first entry is added. */
  uint32_t *heads;
  Waiting *waiting;
  size_t nwaiting, waitingsize;
} Marking;

/* If object 'to' is not reached yet, marks it as reached by the reference 'way' from its parent
   'from', and queues it. */
static void cut_reach (Marking *m, uint32_t from, uint32_t to, Way way) {
  Cut *c = m->w->c;
  if (c->reached[to]) return;
  c->reached[to] = 1;
  c->parent[to] = from;
  c->way[to] = way;
  m->queue[m->n++] = to;
}

/* Adds an entry to 'waiting' for a field with a weak key. Its value 'to' is reachable only if both
   the table and the key are. 'from': the table or key that was reached; 'other': the key or table
   that was not. Returns 0 if out of memory. */
static int await (Marking *m, uint32_t other, uint32_t from, uint32_t to, Way way) {
  Waiting *e;
  if (m->heads == NULL && (m->heads = calloc(m->w->g->n, sizeof(*m->heads))) == NULL) return 0;
  if (!list_grow(&m->waiting, m->nwaiting, &m->waitingsize, sizeof(*m->waiting))) return 0;
  e = &m->waiting[m->nwaiting++];
  e->from = from;
  e->to = to;
  e->way = way;
  e->next = m->heads[other];
  m->heads[other] = (uint32_t)m->nwaiting;
  return 1;
}

/* Marks, breadth first, all objects that are reachable without the removed references. Counts the
   removed references. Returns 0 if out of memory. */
static int mark (Marking *m) {
  Work *w = m->w;
  const Graph *g = w->g;
  uint32_t next, to, k;
  Way way;
  cut_reach(m, 0, 0, way_of(HEAP_EROOT, WAY_MOST));
  for (next = 0; next < m->n; next++) {
    uint32_t v = m->queue[next];
    size_t i = 0;
    while (graph_edge(g, v, &i, &to, &way)) {
      uint32_t other = way_argument(way);
      if (isremoved(w, v, to, way)) {
        w->c->references += way_kind(way) != HEAP_EKEY;
        continue;
      }
      if (way_kind(way) == HEAP_EWEAKKEY && other < g->n && !w->c->reached[other]) {
        if (!await(m, other, v, to, way)) return 0;
      }
      else cut_reach(m, v, to, way);
    }
    for (k = m->heads != NULL ? m->heads[v] : 0; k != 0; k = m->waiting[k - 1].next)
      cut_reach(m, m->waiting[k - 1].from, m->waiting[k - 1].to, m->waiting[k - 1].way);
  }
  return 1;
}

/* Sets the result, *w->c: counts the objects that are unreachable without the references that
   w->flags remove. Returns 0 if out of memory. */
static int measure (Work *w) {
  const Graph *g = w->g;
  Cut *c = w->c;
  Marking m = {w, malloc((size_t)g->n * sizeof(uint32_t)), 0, NULL, NULL, 0, 0};
  uint32_t v;
  int ok;
  c->reached = calloc(g->n, 1);
  c->parent = malloc((size_t)g->n * sizeof(*c->parent));
  c->way = malloc((size_t)g->n * sizeof(*c->way));
  ok = m.queue != NULL && c->reached != NULL && c->parent != NULL && c->way != NULL && mark(&m);
  for (v = 1; v < g->n && ok; v++) {
    if (c->reached[v]) continue;
    c->freed += graph_size(g, v);
    c->objects++;
  }
  free(m.queue);
  free(m.heads);
  free(m.waiting);
  return ok;
}

/* }===================================================================== */

int cut_of (Cut *c, const Graph *g, const char *const *steps, size_t n, CutHow how,
            const char **why) {
  Work w;
  uint64_t ends = 0;
  memset(c, 0, sizeof(*c));
  memset(&w, 0, sizeof(w));
  w.g = g;
  w.c = c;
  w.steps = steps;
  w.n = n;
  w.variable = GRAPH_NONE;
  *why = NULL;
  if (n == 0 || n > STEPS_MOST) {
    *why = (n == 0) ? "the path of references is empty"
                    : "the path of references has more than 250 steps, the limit";
    return 0;
  }
  w.flags = calloc(g->n, 1);
  if (w.flags == NULL || !findends(&w, &ends)) *why = NOMEMORY;
  else if (ends == 0) *why = "the snapshot has no object at the end of this path of references";
  else *why = flag(&w, how);
  if (*why == NULL && !measure(&w)) *why = NOMEMORY;
  free(w.flags);
  free(w.proto);
  free(w.protoparent);
  if (*why != NULL) cut_free(c);
  return *why == NULL;
}

void cut_free (Cut *c) {
  free(c->reached);
  free(c->parent);
  free(c->way);
  memset(c, 0, sizeof(*c));
}
