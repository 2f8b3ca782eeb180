/* SPDX-License-Identifier: MIT */
/*
** A fuzzer of the reader of heap snapshots: damaged snapshots must cause no crash, no hang, and
** no inconsistent graph.
**
**   heaps SEED INPUTS [FOLDER]
**
** It creates snapshots of random heaps, well-formed and malformed. It damages most of them in
** several ways and compresses some. It processes each as `asamp heap` does: graph, classes,
** dominators, trees, file for DevTools. An undamaged file must be accepted. In every graph that
** was read it checks the invariants GR1 and GR2, the sums and, if the graph is small, that the
** dominators conform to their definition. The file input.h describes the arguments, and the
** report of a failure.
*/
#define _GNU_SOURCE
#include "input.h"

#include "bytes.h"
#include "classnames.h"
#include "devtools.h"
#include "dominators.h"
#include "graph.h"
#include "merge.h"
#include "words.h"

/* largest number of objects of a graph whose dominators are compared with their definition */
#define SMALL	64

/* ------------------------------------------------------- a snapshot -- */

static unsigned char data[MOST];
static size_t size;

static void byte (unsigned b) {
  if (size < MOST)
    data[size++] = (unsigned char)b;
}

static void number (uint64_t n) {
  for (; n >= 0x80; n >>= 7)
    byte((unsigned)n | 0x80);
  byte((unsigned)n);
}

static void distance (int64_t n) {
  number(((uint64_t)n << 1) ^ (uint64_t)(n >> 63));
}

static void address (uint64_t p, uint64_t from) {
  distance((int64_t)(p >> 3) - (int64_t)(from >> 3));
}

static void optional (uint64_t p, uint64_t from) {
  int64_t n = (int64_t)(p >> 3) - (int64_t)(from >> 3);
  number(p == 0 ? 0 : 1 + (((uint64_t)n << 1) ^ (uint64_t)(n >> 63)));
}

static void text (const char *s) {
  size_t n = strlen(s);
  number(n);
  while (*s != '\0')
    byte((unsigned char)*s++);
}

#define OBJECTS		60

/*
** The objects of the generated heap: address and kind. Object 0 is a table, 1 a string, 2 a
** prototype.
*/
static struct { uint64_t at; int kind; } all[OBJECTS];
static size_t n;

static uint64_t edges;

/* Addresses of the C functions that have names in the snapshot. */
#define CODES	3
static uint64_t codes[CODES];

/* Returns the index of a random object of this kind (-1: of any kind). */
static size_t pick (int kind) {
  size_t i = (size_t)upto(n), tried;
  for (tried = 0; tried < n && kind >= 0 && all[i].kind != kind; tried++)
    i = (i + 1) % n;
  return i;
}

static void edge (size_t from, int kind, size_t to) {
  uint64_t me = all[from].at;
  byte(HEAP_EDGE + (unsigned)kind);
  address(all[to].at, me);
  switch (kind) {
    case HEAP_EINDEX: distance((int64_t)upto(9) - 4); break;
    case HEAP_EFIELD: address(all[pick(HEAP_STRING)].at, me); break;
    case HEAP_EENTRY: optional(upto(2) ? all[pick(-1)].at : 0, me); break;
    case HEAP_EWEAKKEY: address(all[pick(HEAP_TABLE)].at, me); break;
    case HEAP_EUPVALUE:
      distance((int64_t)upto(5));
      optional(upto(2) ? all[pick(HEAP_STRING)].at : 0, me);
      break;
    case HEAP_ELOCAL:
      address(all[pick(HEAP_STRING)].at, me);
      optional(upto(2) ? all[pick(-1)].at : 0, me);
      break;
    case HEAP_ESTACK:
      distance((int64_t)upto(2));
      optional(upto(2) ? all[pick(-1)].at : 0, me);
      break;
    case HEAP_ECODE:
      distance((int64_t)upto(5));
      number(upto(2) ? codes[upto(CODES)] : next() >> 16);
      break;
    case HEAP_EUSERVALUE: case HEAP_ECONSTANT: distance((int64_t)upto(4)); break;
    default: break;
  }
  edges++;
}

static void object (size_t i, uint64_t *last, uint64_t *bytes) {
  static const char *const texts[] = {"__name", "__index", "x", "", "_LOADED", "a\"\n", "data"};
  uint64_t b = 8 * (1 + upto(20));
  byte(HEAP_OBJECT + (unsigned)all[i].kind);
  address(all[i].at, *last);
  number(b);
  switch (all[i].kind) {
    case HEAP_STRING: {
      const char *s = texts[upto(sizeof(texts) / sizeof(*texts))];
      number(strlen(s) + upto(2) * 1000);
      text(s);
      break;
    }
    case HEAP_FUNCTION: optional(upto(4) ? all[pick(HEAP_PROTO)].at : 0, all[i].at); break;
    case HEAP_CFUNCTION: number(next() >> 16); break;
    case HEAP_THREAD: byte((unsigned)upto(2)); break;
    case HEAP_PROTO:
      number(upto(100));
      optional(upto(2) ? all[pick(HEAP_STRING)].at : 0, all[i].at);
      optional(upto(4) ? all[pick(HEAP_STRING)].at : 0, all[i].at);
      break;
    default: break;
  }
  *last = all[i].at;
  *bytes += b;
}

static void functions (void) {
  size_t i;
  for (i = 0; i < CODES; i++) {
    codes[i] = next() >> 16;
    byte(HEAP_CODE);
    number(codes[i]);
    text(upto(2) ? "json.decode" : "");
  }
}

static void samples (void) {
  uint64_t last = 0, sites = upto(6), i, k = upto(20);
  for (i = 0; i < sites; i++) {
    byte(HEAP_SITE);
    text(upto(2) ? "handle" : "f");
    text(upto(2) ? "app.lua" : "b.lua");
    number(upto(50));
    number(upto(50));
  }
  while (k-- > 0) {
    uint64_t a = upto(8) ? all[pick(-1)].at : 8 * (1 + upto(1000));
    byte(HEAP_SAMPLE);
    address(a, last);
    number(upto(sites + 1));
    number(upto(100000));
    number(upto(1 << 20));
    last = a;
  }
}

/*
** Writes a snapshot of a random heap. In a well-formed snapshot, every object has a holder: the
** state for the first object, an earlier object for all others.
*/
static void make (void) {
  uint64_t last = 0, bytes = 0, base = 8 * (1 + upto(1u << 30));
  size_t i, k;
  size = 0;
  edges = 0;
  memcpy(data, HEAPFORMAT_MAGIC, HEAPFORMAT_MAGICSIZE);
  size = HEAPFORMAT_MAGICSIZE;
  n = 3 + (size_t)upto(OBJECTS - 3);
  for (i = 0; i < n; i++) {
    all[i].at = base + 8 * (i * 1000 + upto(900));
    all[i].kind = i == 0 ? HEAP_TABLE : i == 1 ? HEAP_STRING : i == 2 ? HEAP_PROTO
                : (int)upto(HEAP_KINDS);
  }
  byte(HEAP_META);
  text("inuse");
  text("12345");
  byte(HEAP_META);
  text("state");
  text("800");
  functions();
  /* writes an edge from the Lua state to the first object */
  byte(HEAP_EDGE + HEAP_EROOT);
  address(all[0].at, 0);
  distance(0);
  edges++;
  for (i = 0; i < n; i++) {
    size_t more = (size_t)upto(4);
    object(i, &last, &bytes);
    /*
    ** This loop adds the edges of a binary tree, so that every object has a holder. Further
    ** random edges follow.
    */
    for (k = i + 1; k < n && k <= 2 * i + 2; k++)
      if (k > 2 * i)
        edge(i, 1 + (int)upto(HEAP_EDGES - 1), k);
    while (more-- > 0)
      edge(i, 1 + (int)upto(HEAP_EDGES - 1), pick(-1));
  }
  while (upto(3) == 0) {  /* late edges */
    i = pick(-1);
    byte(HEAP_FROM);
    number(all[i].at >> 3);
    edge(i, 1 + (int)upto(HEAP_EDGES - 1), pick(-1));
  }
  if (upto(2))
    samples();
  byte(HEAP_END);
  number(n);
  number(edges);
  number(bytes);
}

/* ------------------------------------------------------- the damage -- */

static void damage (void) {
  int times = 1 + (int)upto(4);
  while (times-- > 0 && size > 0) {
    size_t at = (size_t)upto(size), k = (size_t)upto(size - at < 40 ? size - at + 1 : 40);
    switch (upto(6)) {
      case 0: data[at] ^= (unsigned char)(1 << upto(8)); break;
      case 1: data[at] = (unsigned char)next(); break;
      case 2: data[at] = (unsigned char)(HEAP_EDGE + upto(HEAP_EDGES)); break;
      /* repeats some bytes of the data */
      case 3:
        if (size + k <= MOST) {
          memmove(data + at + k, data + at, size - at);
          size += k;
        }
        break;
      /* writes a number of variable length that has many bytes */
      case 4:
        memset(data + at, upto(2) ? 0xff : 0x80, k < 11 ? k : 11);
        break;
      default:
        if (upto(8) == 0)
          size = at;
        else {
          memmove(data + at, data + at + k, size - at - k);
          size -= k;
        }
        break;
    }
  }
}

/* ------------------------------------------------------- checks of the graph -- */

/*
** Marks in 'seen' the objects that are reachable from the state on paths that do not contain the
** object 'without' (0: all paths).
*/
static uint64_t reach (const Graph *g, uint32_t without, unsigned char *seen) {
  uint32_t stack[SMALL], top = 0, to;
  uint64_t sum = 0;
  Way way;
  memset(seen, 0, g->n);
  seen[0] = 1;
  stack[top++] = 0;
  while (top > 0) {
    uint32_t v = stack[--top];
    size_t i = 0;
    sum += graph_size(g, v);
    while (graph_edge(g, v, &i, &to, &way))
      if (!seen[to] && (to != without || without == 0)) {
        seen[to] = 1;
        stack[top++] = to;
      }
  }
  return sum;
}

static void checkgraph (const Graph *g, const Naming *m, const Dominators *d) {
  unsigned char seen[SMALL];
  uint64_t bytes = 0, found = 0;
  uint32_t v, to;
  size_t k;
  Way way;
  for (v = 0; v < g->n; v++) {
    size_t i = 0;
    bytes += graph_size(g, v);
    if (m->class[v] >= m->n || d->dominator[v] >= g->n || d->retained[v] < graph_size(g, v))
      fail("an object without class or dominator");
    if (v > 0 && (g->parent[v] >= g->n || g->kind[v] >= HEAP_KINDS))
      fail("an object without holder or kind");
    while (graph_edge(g, v, &i, &to, &way)) {
      found++;
      if (to >= g->n || to == 0)
        fail("an edge to nothing");
    }
  }
  if (bytes != g->bytes || d->retained[0] != bytes)
    fail("bytes do not add up");
  if (found != (uint64_t)g->nedges + g->nlate)
    fail("edges do not add up");
  for (k = 0; k < g->nsamples; k++)
    if (g->samples[k].object >= g->n || g->samples[k].object == 0 ||
        g->samples[k].site >= g->nsites ||
        (k > 0 && g->samples[k].object < g->samples[k - 1].object))
      fail("a sample without object or site");
  if (g->n > SMALL)
    return;
  for (v = 1; v < g->n; v++)
    if (d->retained[v] != bytes - reach(g, v, seen))
      fail("an object retains other bytes than go with it");
}

static void words (const Graph *g) {
  char out[WORDS_MOST];
  uint32_t v;
  for (v = 1; v < g->n; v++) {
    words_step(g, g->parent[v], v, g->way[v], (int)upto(2), out);
    if (strlen(out) >= WORDS_MOST)
      fail("words without an end");
  }
}

static void trees (const Graph *g, const Naming *m, const Dominators *d) {
  MergeWish wish;
  Merge merged;
  size_t i;
  memset(&wish, 0, sizeof(wish));
  wish.graph = g;
  wish.naming = m;
  wish.dominators = d;
  wish.paths = (int)upto(2);
  wish.class = (uint32_t)upto(m->n);
  wish.most = upto(2) ? 10000 : 5;
  if (!merge_of(&merged, &wish))
    fail("no memory");
  for (i = 0; i < merged.n; i++) {
    const MergeRow *r = &merged.rows[i];
    if ((r->above != GRAPH_NONE && r->above >= i) || r->example >= g->n)
      fail("a row without one above it");
  }
  merge_free(&merged);
}

static void run (int whole) {
  char err[1024] = "";
  Naming m;
  Dominators d;
  Graph *g = graph_read(path, NULL, NULL, err, sizeof(err));
  if (g == NULL) {
    if (err[0] == '\0')
      fail("refused without a word");
    if (whole)
      fail(err);
    return;
  }
  if (!naming_of(&m, g) || !dominators_of(&d, g))
    fail("no memory");
  checkgraph(g, &m, &d);
  words(g);
  trees(g, &m, &d);
  if (upto(4) == 0 && !devtools_write(g, &m, "/dev/null", 0, err, sizeof(err)))
    fail(err);
  dominators_free(&d);
  naming_free(&m);
  graph_free(g);
}

int main (int argc, char **argv) {
  unsigned long long inputs;
  int fd = start("heaps", "heaps", argc, argv, &inputs);
  for (input = 1; input <= inputs; input++) {
    int whole = upto(8) == 0;
    make();
    if (!whole)
      damage();
    if (upto(8) == 0) {
      size = gzip(data, size);
      if (!whole && upto(2))
        damage();
    }
    put(fd, data, size);
    run(whole);
  }
  return end(fd, inputs);
}
