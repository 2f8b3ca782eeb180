/* SPDX-License-Identifier: MIT */
/* Reads snapshot files (graph.h). */
#include "graph.h"
#include "bytes.h"
#include "idmap.h"
#include "interval.h"
#include "list.h"
#include "source.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE		65536  /* bytes read at a time */
#define TEXT_MOST	BOUND((size_t)512 << 20, 256)  /* largest Graph.text, bytes */
#define OBJECTS_MOST	((WAY_MOST) - 1)
#define EDGES_MOST	(UINT32_MAX - 1)
#define CODES_MOST	BOUND(1u << 12, 2u)  /* largest number of C functions whose names are
                                                stored */
#define SITES_MOST	BOUND(1u << 20, 8u)  /* largest number of allocation sites; samples of
                                                further sites receive site 0, unknown */

/* Limits against malicious files, for the memory used and for the unpacked size of the file. Each
   limit is the larger of a number of bytes (_MOST) and a multiple (_TIMES) of source_fetched, the
   bytes read from the file so far. A snapshot of asamp needs memory of 60 times its size, and
   unpacks to 8 times its size. */
#define MEMORY_MOST	BOUND((uint64_t)512 << 20, 1u << 16)
#define MEMORY_TIMES	256
#define UNPACKED_MOST	BOUND((uint64_t)256 << 20, 1u << 16)
#define UNPACKED_TIMES	128

/* Estimates of the memory for each object, edge of Graph.to, edge of Graph.late, prototype, slot,
   site and sample, bytes. They include the unused capacity of lists, and the caller's results for
   each object (dominators, classes). */
enum {
  OBJECT_COST = 41 + 48 + 56, EDGE_COST = 18, LATE_COST = 4 * sizeof(LateEdge),
  PROTO_COST = 2 * sizeof(struct Proto), SLOT_COST = 2 * sizeof(Slot),
  SITE_COST = 2 * sizeof(Site) + 32, SAMPLE_COST = 4 * sizeof(Sample)
};

#define SUM_MOST	((uint64_t)1 << 62)  /* largest sum of the sizes of all objects, and
                                                of Sample.bytes of all samples */

#define FREE		UINT64_MAX  /* unused entry of Reader.table */

#define STILL_WRITTEN	"the snapshot is still being written; try again when it is complete"

#define ELLIPSIS	"…"

enum { UNDEFINED = HEAP_KINDS + 1 };  /* kind of an object whose record has not been read yet */

typedef struct Reader {
  Graph *g;
  Source *source;
  const char *path;
  unsigned char buffer[PIECE];
  size_t at, n;			/* index of the next byte in 'buffer', and number of bytes there */
  /* Hash table from addresses to objects. An entry has the number of an object in its low half, and
     in its high half a tag: a second hash of the object's address. Unused entries are FREE. */
  uint64_t *table;
  uint32_t mask;		/* number of entries of 'table' minus 1; 0: no table */
  uint64_t seed;		/* random part of the hash of an address, so that no file can be
                                   made to cause collisions */
  uint32_t next;		/* object whose record the reader expects next */
  size_t sitesize, samplesize, codesize;
  IdMap codes;			/* maps addresses of C functions to indexes in Graph.codes */
  uint64_t nsites;		/* number of allocation sites read */
  size_t size, edgesize, latesize, protosize, slotsize, textsize;
  uint64_t defined, nedges;	/* numbers of objects and edges read; the record HEAP_END must have
                                   the same numbers */
  uint64_t bytes, sampled;	/* 'bytes': sum of the bytes of all objects read; 'sampled': sum of
                                   Sample.bytes of all samples read */
  uint64_t spent;		/* memory used so far, an estimate, bytes */
  /* Addresses to which distances in the file are relative.
     last        of the last object read
     lastsample  of the object of the last sample read
     from        of the object whose edges are read */
  uint64_t last, lastsample, from;
  uint32_t holder;		/* object whose edges are read */
  /* 1: the next edges of 'holder' are added to Graph.late. 0: to Graph.to. In Graph.to, the edges
     of an object must be adjacent. So 'late' is 1 if Graph.to has edges of 'holder' already, or if
     'holder' is not defined yet. */
  int late;
  int64_t index;		/* index of the array element of 'holder' read last; 0: none */
  jmp_buf failed;
  char *err;
  size_t errsize;
} Reader;

/* Writes the error message and ends the reading with longjmp. */
static _Noreturn void graph_fail (Reader *r, const char *format, ...) {
  char why[300];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof(why), format, args);
  va_end(args);
  snprintf(r->err, r->errsize, "cannot read the snapshot '%s': %s", r->path, why);
  longjmp(r->failed, 1);
}

static _Noreturn void graph_nomemory (Reader *r) {
  graph_fail(r, "not enough memory for %llu objects and %llu references; read the snapshot on a "
                "machine with more memory",
             (unsigned long long)r->g->n, (unsigned long long)r->nedges);
}

static _Noreturn void damaged (Reader *r, const char *what) {
  graph_fail(r, "the snapshot is damaged at byte %llu, uncompressed: %s; take another snapshot",
             (unsigned long long)source_offset(r->source) - r->n + r->at, what);
}

/* Adds 'bytes' to r->spent. Fails if the sum exceeds the limit of the memory used, the larger of
   MEMORY_MOST and MEMORY_TIMES times the bytes read from the file so far. */
static void spend (Reader *r, uint64_t bytes) {
  r->spent += bytes;
  if (r->spent > MEMORY_MOST && r->spent / MEMORY_TIMES > source_fetched(r->source))
    graph_fail(r, "the file is damaged, or was not written by asamp: its first %llu bytes list "
                  "%llu objects and %llu references, which need more than %llu MiB of memory; "
                  "take another snapshot", (unsigned long long)source_fetched(r->source),
               (unsigned long long)r->g->n, (unsigned long long)r->nedges,
               (unsigned long long)(MEMORY_MOST >> 20));
}

/* {== bytes ============================================================ */

/* Returns the next byte. Fails at the end of the file, or if the unpacked file exceeds its limit
   (UNPACKED_MOST, UNPACKED_TIMES). */
static unsigned byte (Reader *r) {
  if (r->at == r->n) {
    r->n = (size_t)source_read(r->source, r->buffer, PIECE);
    r->at = 0;
    if (source_offset(r->source) > UNPACKED_MOST &&
        source_offset(r->source) / UNPACKED_TIMES > source_fetched(r->source))
      graph_fail(r, "the file is damaged, or was not written by asamp: its first %llu bytes unpack "
                    "to %llu bytes, more than in any snapshot; take another snapshot",
                 (unsigned long long)source_fetched(r->source),
                 (unsigned long long)source_offset(r->source));
    if (r->n == 0)
      graph_fail(r, source_live(r->source)
                 ? STILL_WRITTEN
                 : "the snapshot ends early, after %llu objects: its writer was killed, or the "
                   "file was cut; take another snapshot", (unsigned long long)r->defined);
  }
  return r->buffer[r->at++];
}

/* Reads a LEB128 number. */
static uint64_t graph_number (Reader *r) {
  uint64_t n = 0;
  unsigned b, shift = 0;
  do {
    b = byte(r);
    if (shift > 63 || (shift == 63 && (b & 0x7e)))
      damaged(r, "a number has more than 64 bits");
    n |= (uint64_t)(b & 0x7f) << shift;
    shift += 7;
  } while (b & 0x80);
  return n;
}

/* Reads a signed LEB128 number in zigzag encoding. */
static int64_t distance (Reader *r) {
  uint64_t n = graph_number(r);
  return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

/* Reads an address, which the file stores as its distance from the address 'from', divided by 8. */
static uint64_t address (Reader *r, uint64_t from) {
  uint64_t a = (uint64_t)distance(r) + (from >> 3);
  if (a == 0 || a >> 61 != 0)
    damaged(r, "the address of an object is 0 or exceeds 64 bits");
  return a << 3;
}

/* Reads an address that may be missing. The file stores HEAP_NONE if it is missing; otherwise 1
   plus the number that address() would read. Returns 0 if the address is missing. */
static uint64_t optional (Reader *r, uint64_t from) {
  uint64_t n = graph_number(r), a;
  if (n == HEAP_NONE)
    return 0;
  n--;
  a = (uint64_t)((int64_t)(n >> 1) ^ -(int64_t)(n & 1)) + (from >> 3);
  if (a == 0 || a >> 61 != 0)
    damaged(r, "the address of an object is 0 or exceeds 64 bits");
  return a << 3;
}

/* Reads a length of at most HEAP_TEXT bytes and a text, and appends a NUL. Returns the length. */
static size_t graph_readtext (Reader *r, char to[HEAP_TEXT + 1]) {
  uint64_t n = graph_number(r);
  size_t i;
  if (n > HEAP_TEXT)
    damaged(r, "a text is longer than 128 bytes, the limit");
  for (i = 0; i < n; i++)
    to[i] = (char)byte(r);
  to[n] = '\0';
  return (size_t)n;
}

/* }===================================================================== */

/* {== objects ========================================================== */

/* Returns the hash of an address. Addresses in one page have close hashes. Objects of one page are
   often close in the file, and close entries of the table cause fewer cache misses. */
static uint64_t graph_hashof (const Reader *r, uint64_t a) {
  uint64_t h = ((a >> 12) ^ r->seed) * UINT64_C(0x9e3779b97f4a7c15);
  h ^= h >> 32;
  h *= UINT64_C(0xd6e8feb86659fd93);
  return (h >> 32 << 6) + (a >> 6 & 63);
}

/* Returns the tag of an address in Reader.table: a second hash, in the upper 32 bits. */
static uint64_t tagof (uint64_t a) {
  return (a >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32 << 32;
}

/* Creates the hash table from addresses to objects, or doubles its size. */
static void rehash (Reader *r) {
  size_t n = r->mask == 0 ? BOUND_FIRST(1024) : 2 * ((size_t)r->mask + 1), i;
  uint64_t *t = malloc(n * sizeof(*t));
  if (t == NULL)
    graph_nomemory(r);
  memset(t, 0xff, n * sizeof(*t));
  free(r->table);
  r->table = t;
  r->mask = (uint32_t)(n - 1);
  for (i = 1; i < r->g->n; i++) {
    uint32_t s = (uint32_t)graph_hashof(r, r->g->address[i]) & r->mask;
    while (t[s] != FREE)
      s = (s + 1) & r->mask;
    t[s] = tagof(r->g->address[i]) | i;
  }
}

/* Reallocates the array *list to 'size' elements of 'element' bytes. Returns 0 if out of memory. */
static int graph_grow (void *list, size_t size, size_t element) {
  void *p;
  memcpy(&p, list, sizeof(p));
  p = realloc(p, size * element);
  if (p == NULL)
    return 0;
  memcpy(list, &p, sizeof(p));
  return 1;
}

/* Adds an object with the address a, whose record was not read yet. Returns the object's number. */
static uint32_t newobject (Reader *r, uint64_t a) {
  Graph *g = r->g;
  uint32_t v = g->n;
  if (v >= OBJECTS_MOST)
    graph_fail(r, "the snapshot contains more than %u objects, the limit; take a snapshot of a "
                  "smaller heap", (unsigned)OBJECTS_MOST);
  spend(r, OBJECT_COST);
  if (v == r->size) {
    size_t size = r->size + r->size / 2 + BOUND_FIRST(1024);
    if (!graph_grow(&g->address, size, sizeof(*g->address)) ||
        !graph_grow(&g->words, size, sizeof(*g->words)) || !graph_grow(&g->kind, size, 1) ||
        !graph_grow(&g->info, size, sizeof(*g->info)) ||
        !graph_grow(&g->first, size, sizeof(*g->first)) ||
        !graph_grow(&g->count, size, sizeof(*g->count)) ||
        !graph_grow(&g->parent, size, sizeof(*g->parent)) ||
        !graph_grow(&g->way, size, sizeof(*g->way)))
      graph_nomemory(r);
    r->size = size;
  }
  g->address[v] = a;
  g->words[v] = 0;
  g->kind[v] = UNDEFINED;
  g->info[v] = GRAPH_NONE;
  g->first[v] = g->count[v] = 0;
  g->parent[v] = GRAPH_NONE;
  g->way[v] = 0;
  g->n++;
  return v;
}

/* Returns the index of the entry of an address in r->table, or of the free entry for this
   address. */
static uint32_t placeof (const Reader *r, uint64_t a) {
  uint64_t tag = tagof(a), e;
  uint32_t s;
  for (s = (uint32_t)graph_hashof(r, a) & r->mask; (e = r->table[s]) != FREE; s = (s + 1) & r->mask)
    if ((e ^ tag) >> 32 == 0 && r->g->address[(uint32_t)e] == a) break;
  return s;
}

/* Returns the object at an address, which is added if needed. */
static uint32_t object (Reader *r, uint64_t a) {
  uint32_t s, v;
  if (r->mask == 0 || (uint64_t)r->g->n * 2 >= r->mask)
    rehash(r);
  s = placeof(r, a);
  if (r->table[s] != FREE)
    return (uint32_t)r->table[s];
  v = newobject(r, a);
  r->table[s] = tagof(a) | v;
  return v;
}

/* Returns the object at an address, or GRAPH_NONE. */
static uint32_t graph_find (const Reader *r, uint64_t a) {
  uint32_t s = r->mask == 0 ? 0 : placeof(r, a);
  return r->mask == 0 || r->table[s] == FREE ? GRAPH_NONE : (uint32_t)r->table[s];
}

/* Returns the object at an address, which is added if needed; GRAPH_NONE for address 0. */
static uint32_t maybe (Reader *r, uint64_t a) {
  return a == 0 ? GRAPH_NONE : object(r, a);
}

/* Stores a text of n bytes. Returns its offset in Graph.text, or GRAPH_NONE if Graph.text would be
   longer than TEXT_MOST. */
static uint32_t graph_keep (Reader *r, const char *s, size_t n) {
  Graph *g = r->g;
  uint32_t at = (uint32_t)g->ntext;
  if (g->ntext + n + 1 > TEXT_MOST) {
    g->textless++;
    return GRAPH_NONE;
  }
  spend(r, 2 * (n + 1));
  if (g->ntext + n + 1 > r->textsize) {
    size_t size = 2 * r->textsize + HEAP_TEXT + sizeof(ELLIPSIS);
    if (!graph_grow(&g->text, size, 1))
      graph_nomemory(r);
    r->textsize = size;
  }
  g->text[g->ntext] = (char)n;
  memcpy(g->text + g->ntext + 1, s, n);
  g->ntext += n + 1;
  return at;
}

/* Reads the record of a C function, after the tag HEAP_CODE: its address and name. */
static void readcode (Reader *r) {
  Graph *g = r->g;
  char name[HEAP_TEXT + 1];
  uint64_t a = graph_number(r);
  graph_readtext(r, name);
  if (a == 0 || g->ncodes >= CODES_MOST)
    return;
  if (!list_grow(&g->codes, g->ncodes, &r->codesize, sizeof(*g->codes)) ||
      !idmap_set(&r->codes, a, (uint32_t)g->ncodes))
    graph_nomemory(r);
  memcpy(g->codes[g->ncodes++], name, sizeof(name));
}

/* Returns the index in Graph.codes of the C function at the address a, or GRAPH_NONE. */
static uint32_t code (const Reader *r, uint64_t a) {
  uint32_t i = a == 0 ? IDMAP_NONE : idmap_get(&r->codes, a);
  return i == IDMAP_NONE ? GRAPH_NONE : i;
}

/* Removes an incomplete character at the end of s and appends ELLIPSIS. Returns the new length. */
static size_t ellipsis (char *s, size_t n) {
  n = bytes_whole(s, n);
  memcpy(s + n, ELLIPSIS, sizeof(ELLIPSIS));
  return n + sizeof(ELLIPSIS) - 1;
}

/* Reads the record of an object of kind 'kind', after the tag. */
static void readobject (Reader *r, int kind) {
  Graph *g = r->g;
  uint64_t a = address(r, r->last), bytes = graph_number(r);
  char s[HEAP_TEXT + sizeof(ELLIPSIS)];  /* with space for an ellipsis */
  uint32_t v = r->next < g->n && g->address[r->next] == a ? r->next : object(r, a);
  size_t n;
  r->next = v + 1;
  if (g->kind[v] != UNDEFINED)
    damaged(r, "two records define the same object");
  if (bytes % 8 != 0 || bytes >> 35 != 0)
    damaged(r, "the size of an object is not a multiple of 8 bytes, or is 32 GiB or more");
  if (bytes > SUM_MOST - r->bytes)
    damaged(r, "the sizes of the objects add up to more than 2^62 bytes");
  g->kind[v] = (unsigned char)kind;
  g->words[v] = (uint32_t)(bytes / 8);
  r->bytes += bytes;
  r->defined++;
  r->last = r->from = a;
  r->holder = v;
  r->late = 0;
  r->index = 0;
  g->first[v] = g->nedges;
  switch (kind) {
    case HEAP_STRING: {
      uint64_t all = graph_number(r);
      n = graph_readtext(r, s);
      if (n < all) n = ellipsis(s, n);
      g->info[v] = graph_keep(r, s, n);
      break;
    }
    case HEAP_FUNCTION: {
      uint32_t p = maybe(r, optional(r, a));
      g->info[v] = p;
      break;
    }
    case HEAP_CFUNCTION: g->info[v] = code(r, graph_number(r)); break;
    case HEAP_THREAD: g->info[v] = byte(r); break;
    case HEAP_PROTO: {
      uint64_t line = graph_number(r);
      uint32_t name = maybe(r, optional(r, a)), source = maybe(r, optional(r, a));
      spend(r, PROTO_COST);
      if (!list_grow(&g->protos, g->nprotos, &r->protosize, sizeof(*g->protos)))
        graph_nomemory(r);
      g->protos[g->nprotos].line = line > INT32_MAX ? 0 : (uint32_t)line;
      g->protos[g->nprotos].name = name;
      g->protos[g->nprotos].source = source;
      g->info[v] = (uint32_t)g->nprotos++;
      break;
    }
    default: break;
  }
}

/* }===================================================================== */

/* {== edges ============================================================ */

/* Adds a Slot, the description of a variable or stack slot, with the fields 'name', 'in' and
   'index'. Returns a Way of the kind 'kind' with the index of the Slot. */
static Way graph_slot (Reader *r, int kind, uint32_t name, uint32_t in, int64_t index) {
  Graph *g = r->g;
  spend(r, SLOT_COST);
  if (!list_grow(&g->slots, g->nslots, &r->slotsize, sizeof(*g->slots)))
    graph_nomemory(r);
  if (g->nslots >= WAY_MOST)
    return way_of(kind, WAY_MOST);
  g->slots[g->nslots].name = name;
  g->slots[g->nslots].in = in;
  g->slots[g->nslots].index = index < 0 || index > INT32_MAX ? 0 : (uint32_t)index;
  return way_of(kind, g->nslots++);
}

/* Returns a Way (an edge's kind and argument in one number) with this kind and index. An index that
   is negative or too large becomes WAY_MOST, which means unknown. */
static Way withindex (int kind, int64_t index) {
  return way_of(kind, index < 0 || index >= WAY_MOST ? WAY_MOST : (uint32_t)index);
}

/* Reads the fields that follow the target in the record of an edge. Returns the Way of the edge. */
static Way readway (Reader *r, int kind) {
  uint64_t a = r->from;
  uint32_t name;
  int64_t index;
  switch (kind) {
    case HEAP_EINDEX:
      r->index = (int64_t)((uint64_t)r->index + (uint64_t)distance(r));
      return withindex(kind, r->index);
    case HEAP_EROOT: case HEAP_EUSERVALUE: case HEAP_ECONSTANT:
      return withindex(kind, distance(r));
    case HEAP_EFIELD: case HEAP_EWEAKKEY:
      return way_of(kind, object(r, address(r, a)));
    case HEAP_EENTRY:
      name = maybe(r, optional(r, a));
      return way_of(kind, name == GRAPH_NONE ? WAY_MOST : name);
    case HEAP_EUPVALUE:
      index = distance(r);
      name = maybe(r, optional(r, a));
      return graph_slot(r, kind, name, r->g->kind[r->holder] == HEAP_FUNCTION
                                       ? r->g->info[r->holder] : GRAPH_NONE, index);
    case HEAP_ELOCAL:
      name = object(r, address(r, a));
      return graph_slot(r, kind, name, maybe(r, optional(r, a)), 0);
    case HEAP_ESTACK:
      index = distance(r);
      return graph_slot(r, kind, GRAPH_NONE, maybe(r, optional(r, a)), index);
    case HEAP_ECODE:
      index = distance(r);
      return graph_slot(r, kind, GRAPH_NONE, code(r, graph_number(r)), index);
    default: return way_of(kind, WAY_MOST);
  }
}

/* Reads the record of an edge of kind 'kind', after the tag. */
static void readedge (Reader *r, int kind) {
  Graph *g = r->g;
  uint32_t to = object(r, address(r, r->from));
  Way way = readway(r, kind);
  uint32_t holder = r->holder;
  int late, ofweak = kind == HEAP_EWEAKKEY && g->parent[way_argument(way)] != GRAPH_NONE;
  if ((kind == HEAP_EROOT) != (r->holder == 0))
    damaged(r, "a reference of the roots is listed under an object, or one of an object under the "
               "roots");
  /* The file lists the value of a field with a weak key as an edge from the key. If the file has
     listed an edge to the table already, stores the edge as one from the table. */
  if (ofweak) {
    holder = way_argument(way);
    way = way_of(kind, r->holder);
  }
  if (g->parent[to] == GRAPH_NONE) {
    g->parent[to] = holder;
    g->way[to] = way;
  }
  r->nedges++;
  late = r->late || ofweak;
  spend(r, late ? LATE_COST : EDGE_COST);
  if (late) {
    if (!list_grow(&g->late, g->nlate, &r->latesize, sizeof(*g->late)))
      graph_nomemory(r);
    g->late[g->nlate].from = holder;
    g->late[g->nlate].to = to;
    g->late[g->nlate++].way = way;
    return;
  }
  if (g->nedges == r->edgesize) {
    size_t size = r->edgesize + r->edgesize / 2 + BOUND_FIRST(4096);
    if (g->nedges >= EDGES_MOST)
      graph_fail(r, "the snapshot contains more than %u references, the limit; take a snapshot of "
                    "a smaller heap", (unsigned)EDGES_MOST);
    if (!graph_grow(&g->to, size, sizeof(*g->to)) || !graph_grow(&g->ways, size, sizeof(*g->ways)))
      graph_nomemory(r);
    r->edgesize = size;
  }
  g->to[g->nedges] = to;
  g->ways[g->nedges++] = way;
  g->count[r->holder]++;
}

static void readfrom (Reader *r) {
  uint64_t a = graph_number(r);
  if (a >> 61 != 0)
    damaged(r, "the address of an object exceeds 64 bits");
  r->from = a << 3;
  r->holder = a == 0 ? 0 : object(r, a << 3);
  r->index = 0;
  /* In Graph.to, the edges of an object must be adjacent. Edges that the file lists apart from the
     other edges of their object, such as those from a weak key, are stored in Graph.late. */
  r->late = r->g->count[r->holder] > 0 || r->g->kind[r->holder] == UNDEFINED;
  if (!r->late)
    r->g->first[r->holder] = r->g->nedges;
}

/* Orders edges by 'from'. */
static int byfrom (const void *a, const void *b) {
  const LateEdge *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* }===================================================================== */

static void readmeta (Reader *r) {
  char key[HEAP_TEXT + 1], value[HEAP_TEXT + 1];
  uint64_t n, most;
  graph_readtext(r, key);
  graph_readtext(r, value);
  n = strtoull(value, NULL, 10);
  /* The sampling period may be larger than any heap. */
  most = strcmp(key, "period") == 0 ? INTERVAL_MAX : (UINT64_C(1) << 53) - 1;
  if (strcmp(key, "command") != 0 && (value[0] == '-' || n > most))
    damaged(r, "a number in the head of the file is negative or too large");
  if (strcmp(key, "state") == 0) r->g->state = n;
  else if (strcmp(key, "inuse") == 0) r->g->inuse = n;
  else if (strcmp(key, "held") == 0) r->g->held = n;
  else if (strcmp(key, "allocated") == 0) r->g->allocated = n;
  else if (strcmp(key, "period") == 0) r->g->period = n;
  else if (strcmp(key, "unfollowed") == 0) r->g->unfollowed = n;
  else if (strcmp(key, "time") == 0) r->g->time = n;
  else if (strcmp(key, "pid") == 0) r->g->pid = n;
  else if (strcmp(key, "command") == 0)
    memcpy(r->g->command, value, sizeof(value));
}

/* {== samples ========================================================== */

static void readsite (Reader *r) {
  char name[HEAP_TEXT + 1], source[HEAP_TEXT + 1];
  Graph *g = r->g;
  size_t n = graph_readtext(r, name), m = graph_readtext(r, source);
  uint64_t defined = graph_number(r), line = graph_number(r);
  Site *s;
  r->nsites++;
  if (g->nsites > SITES_MOST)
    return;
  spend(r, SITE_COST + n + m);
  if (!list_grow(&g->sites, g->nsites, &r->sitesize, sizeof(*g->sites)))
    graph_nomemory(r);
  s = &g->sites[g->nsites];
  s->name = malloc(n + m + 2);
  if (s->name == NULL)
    graph_nomemory(r);
  g->nsites++;
  s->source = s->name + n + 1;
  memcpy(s->name, name, n + 1);
  memcpy(s->source, source, m + 1);
  s->defined = defined > INT32_MAX ? 0 : (uint32_t)defined;
  s->line = line > INT32_MAX ? 0 : (uint32_t)line;
}

/* Reads a sample. If its object is not in the snapshot, only counts it in Graph.dead. */
static void readsample (Reader *r) {
  Graph *g = r->g;
  uint64_t a = address(r, r->lastsample), site = graph_number(r);
  uint64_t age = graph_number(r), bytes = graph_number(r);
  uint32_t v;
  Sample *s;
  r->lastsample = a;
  if (site > r->nsites)
    damaged(r, "a sample has an allocation site that the file does not define");
  if (bytes > SUM_MOST - r->sampled)
    damaged(r, "the samples represent more than 2^62 bytes");
  r->sampled += bytes;
  v = graph_find(r, a);
  if (v == GRAPH_NONE) {
    g->dead++;
    return;
  }
  spend(r, SAMPLE_COST);
  if (!list_grow(&g->samples, g->nsamples, &r->samplesize, sizeof(*g->samples)))
    graph_nomemory(r);
  s = &g->samples[g->nsamples++];
  s->object = v;
  s->site = site < g->nsites ? (uint32_t)site : 0;
  s->age = age;
  s->bytes = bytes;
}

/* Orders samples by object and then by time, oldest first. An object's oldest sample is of the
   object itself, the later ones are of its vectors, such as the array part of a table. */
static int byobject (const void *a, const void *b) {
  const Sample *x = a, *y = b;
  if (x->object != y->object) return x->object < y->object ? -1 : 1;
  if (x->age != y->age) return x->age > y->age ? -1 : 1;
  return (x->site > y->site) - (x->site < y->site);
}

/* }===================================================================== */

/* Fails unless v is GRAPH_NONE or an object of kind 'kind'. */
static void mustbe (Reader *r, uint32_t v, int kind) {
  if (v != GRAPH_NONE && r->g->kind[v] != kind)
    damaged(r, "an object that must be a string or a function prototype is of another type");
}

/* Fails unless every object except the state is defined and has a parent, every known name and
   source and every key of a field (HEAP_EFIELD) is a string object, and the known prototype of
   every function is a prototype object. */
static void graph_check (Reader *r) {
  Graph *g = r->g;
  uint32_t v;
  size_t i;
  if (g->n == 1)
    damaged(r, "the snapshot has no objects");
  for (v = 1; v < g->n; v++) {
    if (g->kind[v] == UNDEFINED)
      damaged(r, "a reference leads to an object that the file does not define");
    if (g->parent[v] == GRAPH_NONE)
      damaged(r, "no reference leads to one of the objects");
    if (g->kind[v] == HEAP_FUNCTION)
      mustbe(r, g->info[v], HEAP_PROTO);
  }
  for (i = 0; i < g->nprotos; i++) {
    mustbe(r, g->protos[i].name, HEAP_STRING);
    mustbe(r, g->protos[i].source, HEAP_STRING);
  }
  for (i = 0; i < g->nslots; i++)
    mustbe(r, g->slots[i].name, HEAP_STRING);
  for (i = 0; i < g->nedges; i++)
    if (way_kind(g->ways[i]) == HEAP_EFIELD)
      mustbe(r, way_argument(g->ways[i]), HEAP_STRING);
  for (i = 0; i < g->nlate; i++)
    if (way_kind(g->late[i].way) == HEAP_EFIELD)
      mustbe(r, way_argument(g->late[i].way), HEAP_STRING);
}

/* Fails unless the chain of parents of each object leads to object 0. seen[v] is 1 if the chain
   from v is checked, and 2 if v is on the chain that is being checked: reaching v again is then a
   cycle. */
static void checkparents (Reader *r) {
  Graph *g = r->g;
  unsigned char *seen = calloc(g->n, 1);
  uint32_t v, u;
  int bad = 0;
  if (seen == NULL)
    graph_nomemory(r);
  seen[0] = 1;
  for (v = 1; v < g->n && !bad; v++) {
    for (u = v; !seen[u]; u = g->parent[u])
      seen[u] = 2;
    bad = (seen[u] == 2);  /* a cycle */
    for (u = v; seen[u] == 2; u = g->parent[u])
      seen[u] = 1;
  }
  free(seen);
  if (bad)
    damaged(r, "no root reaches some of the objects");
}

/* Adds site 0, "unknown". */
static void nosite (Reader *r) {
  if (!list_grow(&r->g->sites, 0, &r->sitesize, sizeof(*r->g->sites)))
    graph_nomemory(r);
  memset(&r->g->sites[0], 0, sizeof(r->g->sites[0]));
  r->g->nsites = 1;
}

/* Raises an error for a file that does not start like a snapshot. 'i' is the index of the first
   byte that differs. */
static _Noreturn void nosnapshot (Reader *r, size_t i) {
  char other[SOURCE_OTHER];
  if (r->n == 0 && (source_live(r->source) || source_replaced(r->source, r->path)))
    graph_fail(r, STILL_WRITTEN);
  if (source_fetched(r->source) == 0 && source_failure(r->source) == NULL)
    graph_fail(r, "the file is not a heap snapshot but empty: its writer may have been killed; "
                  "take another snapshot");
  if (i >= HEAPFORMAT_VERSION)
    graph_fail(r, "this asamp cannot read the snapshot's version of the format; use the version of "
                  "asamp that wrote the file");
  source_other(r->source, other);
  graph_fail(r, "the file is not a heap snapshot%s", other);
}

/* Reads the first bytes of the file: the name and version of the format. Accepts earlier versions,
   too. */
static void readmagic (Reader *r) {
  size_t i;
  for (i = 0; i < HEAPFORMAT_MAGICSIZE; i++) {
    if (r->at == r->n) {
      r->n = (size_t)source_read(r->source, r->buffer, PIECE);
      r->at = 0;
    }
    if (r->n == 0 || (r->buffer[r->at] != (unsigned char)HEAPFORMAT_MAGIC[i] &&
                      (i != HEAPFORMAT_VERSION || r->buffer[r->at] < '1' ||
                       r->buffer[r->at] > HEAPFORMAT_MAGIC[i])))
      nosnapshot(r, i);
    r->at++;
  }
}

/* Reads the whole file. Then checks the graph, and sorts Graph.late and Graph.samples. */
static void readall (Reader *r, void (*progress) (void *ud, double share), void *ud) {
  unsigned count = 0, tag;
  readmagic(r);
  newobject(r, 0);
  nosite(r);
  r->g->kind[0] = HEAP_KINDS;
  for (;;) {
    if (progress != NULL && ++count % (1u << 18) == 0)
      progress(ud, source_fraction(r->source) * 0.7);
    tag = byte(r);
    if (tag >= HEAP_EDGE && tag < HEAP_EDGE + HEAP_EDGES)
      readedge(r, (int)(tag - HEAP_EDGE));
    else if (tag >= HEAP_OBJECT && tag < HEAP_OBJECT + HEAP_KINDS)
      readobject(r, (int)(tag - HEAP_OBJECT));
    else if (tag == HEAP_FROM)
      readfrom(r);
    else if (tag == HEAP_META)
      readmeta(r);
    else if (tag == HEAP_CODE)
      readcode(r);
    else if (tag == HEAP_SITE)
      readsite(r);
    else if (tag == HEAP_SAMPLE)
      readsample(r);
    else if (tag == HEAP_END)
      break;
    else
      damaged(r, "a record is of an unknown kind");
  }
  if (graph_number(r) != r->defined || graph_number(r) != r->nedges || graph_number(r) != r->bytes)
    damaged(r, "its last record has other totals of objects, references and bytes than the file");
  graph_check(r);
  checkparents(r);
  if (r->g->nlate > 0)
    qsort(r->g->late, r->g->nlate, sizeof(*r->g->late), byfrom);
  if (r->g->nsamples > 0)
    qsort(r->g->samples, r->g->nsamples, sizeof(*r->g->samples), byobject);
  r->g->bytes = r->bytes + r->g->state;
}

Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size) {
  Reader *r = calloc(1, sizeof(*r));
  Graph *volatile g = calloc(1, sizeof(*g));
  volatile int ok = 0;
  if (r == NULL || g == NULL) {
    free(r);
    free(g);
    snprintf(err, size, "cannot read the snapshot '%s': not enough memory; raise ulimit -v", path);
    return NULL;
  }
  r->g = g;
  r->path = path;
  r->err = err;
  r->errsize = size;
  r->seed = (uint64_t)time(NULL) * UINT64_C(0x2545f4914f6cdd1d) ^ (uint64_t)(uintptr_t)r;
  if ((r->source = source_open(path)) == NULL)
    snprintf(err, size, "cannot read the snapshot '%s': %s", path, strerror(errno));
  else if (setjmp(r->failed) == 0) {
    readall(r, progress, ud);
    ok = 1;
  }
  if (r->source != NULL)
    source_close(r->source);
  idmap_free(&r->codes);
  free(r->table);
  free(r);
  if (!ok) {
    graph_free(g);
    return NULL;
  }
  return g;
}

void graph_free (Graph *g) {
  uint32_t i;
  if (g == NULL)
    return;
  free(g->address);
  free(g->words);
  free(g->kind);
  free(g->info);
  free(g->first);
  free(g->count);
  free(g->parent);
  free(g->way);
  free(g->to);
  free(g->ways);
  free(g->late);
  free(g->protos);
  free(g->slots);
  free(g->text);
  free(g->codes);
  for (i = 0; i < g->nsites; i++)
    free(g->sites[i].name);
  free(g->sites);
  free(g->samples);
  free(g);
}

uint64_t graph_size (const Graph *g, uint32_t v) {
  return v == 0 ? g->state : (uint64_t)g->words[v] * 8;
}

const char *graph_text (const Graph *g, uint32_t v, size_t *n) {
  if (v == GRAPH_NONE || g->kind[v] != HEAP_STRING || g->info[v] == GRAPH_NONE) {
    *n = 0;
    return "";
  }
  *n = (unsigned char)g->text[g->info[v]];
  return g->text + g->info[v] + 1;
}

int graph_is (const Graph *g, uint32_t v, const char *text) {
  size_t n;
  const char *s = graph_text(g, v, &n);
  return n == strlen(text) && memcmp(s, text, n) == 0;
}

const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n) {
  size_t low = 0, high = g->nsamples, i;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (g->samples[middle].object < v) low = middle + 1;
    else high = middle;
  }
  for (i = low; i < g->nsamples && g->samples[i].object == v; ) i++;
  *n = i - low;
  return g->samples + low;
}

int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way) {
  size_t k = *i;
  if (k < g->count[v]) {
    *to = g->to[g->first[v] + k];
    *way = g->ways[g->first[v] + k];
    (*i)++;
    return 1;
  }
  if (g->nlate == 0)
    return 0;
  /* all edges of v in g->to were returned: finds the first edge of v in g->late, which has the
     edges that the file lists apart from the other edges of their object */
  if (k == g->count[v]) {
    size_t low = 0, high = g->nlate;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (g->late[middle].from < v) low = middle + 1;
      else high = middle;
    }
    k = (size_t)g->count[v] + low;
  }
  k -= g->count[v];
  if (k >= g->nlate || g->late[k].from != v)
    return 0;
  *to = g->late[k].to;
  *way = g->late[k].way;
  *i = g->count[v] + k + 1;
  return 1;
}
