/* SPDX-License-Identifier: MIT */
/* Writes a .heapsnapshot file (devtools.h). The file is JSON: arrays of numbers, whose meaning the
   field "meta" describes, and a list of strings. The id of an object has 31 bits and is made from
   its address, so that DevTools finds the same object in two snapshots of a process. */
#include "devtools.h"
#include "words.h"
#include "idmap.h"
#include "output.h"
#include "strlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_FIELDS = 7 };  /* numbers per node in the file's array "nodes" */

#define WORDS_BYTES	((uint32_t)1 << 30)	/* largest total length of the strings in Out.words,
                                                   bytes */

/* Types of nodes and edges: indexes in the lists "node_types" and "edge_types" of HEAD. */
enum { SYNTHETIC = 9, OBJECT = 3, STRING = 2, CLOSURE = 5, CODE = 4, NATIVE = 8, ARRAY = 1 };
enum { ELEMENT = 1, PROPERTY = 2, INTERNAL = 3, HIDDEN = 4, CONTEXT = 0 };

static const char HEAD[] =
  "{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\","
  "\"edge_count\",\"trace_node_id\",\"detachedness\"],"
  "\"node_types\":[[\"hidden\",\"array\",\"string\","
  "\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\",\"synthetic\","
  "\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\"],\"string\",\"number\","
  "\"number\",\"number\",\"number\",\"number\"],\"edge_fields\":[\"type\",\"name_or_index\","
  "\"to_node\"],\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\","
  "\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],"
  "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\","
  "\"line\",\"column\"],\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\","
  "\"size\",\"children\"],\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],"
  "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]},";

/* Returns the type of node that represents object v in a .heapsnapshot file. */
static int typeof_ (const Graph *g, uint32_t v) {
  switch (v == 0 ? HEAP_KINDS : g->kind[v]) {
    case HEAP_STRING: return STRING;
    case HEAP_FUNCTION: case HEAP_CFUNCTION: return CLOSURE;
    case HEAP_PROTO: return CODE;
    case HEAP_USERDATA: return NATIVE;
    case HEAP_KINDS: return SYNTHETIC;
    default: return OBJECT;
  }
}

typedef struct Out {
  Output file;
  const Graph *g;
  const Naming *m;
  StrList words;	/* names of functions and descriptions of references */
  IdMap ids;		/* ids that were assigned to objects (idof) */
  uint32_t lastspare;	/* last id that was given to an object because the id from its address was
                           taken */
  /* For each object that is a string whose text (its first bytes) is in the snapshot: position of
     the text in the part of the file's list of strings that has these texts, 0 for the first.
     GRAPH_NONE: another object, or a string whose text the snapshot lacks. */
  uint32_t *strings;
  uint32_t nstrings;	/* number of objects that are strings and whose text is in the snapshot */
  /* Index of the first allocation site's name in the file's list of strings. The site's source
     follows, then name and source of each further site. */
  uint64_t firstsite;
  uint64_t firstword;	/* index of the first element of 'words' in the file's list of strings */
  int failed;		/* 1: there was not enough memory */
} Out;

/* Returns the index of the text of string object v in the file's list of strings. */
static uint64_t textnumber (const Out *o, uint32_t v) {
  return (uint64_t)o->m->n + 1 + o->strings[v];
}

/* Returns the index of the name of object v in the file's list of strings. */
static uint64_t devtools_name (Out *o, uint32_t v) {
  char text[WORDS_MOST];
  if (v == 0) return 0;
  if (o->g->kind[v] == HEAP_STRING && o->strings[v] != GRAPH_NONE) return textnumber(o, v);
  if (o->g->kind[v] == HEAP_FUNCTION || o->g->kind[v] == HEAP_PROTO) {
    words_function(o->g, v, text);
    return o->firstword + strlist_put(&o->words, text, strlen(text));
  }
  return (uint64_t)o->m->class[v] + 1;
}

static void numbers (Out *o, uint64_t a, uint64_t b, uint64_t c) {
  output_uint(&o->file, a);
  output_char(&o->file, ',');
  output_uint(&o->file, b);
  output_char(&o->file, ',');
  output_uint(&o->file, c);
}

/* Assigns an id to object v: 30 bits of its address, followed by a bit 1. If another object has
   this id, assigns a free one. Call it once for each object. */
static uint64_t idof (Out *o, uint32_t v) {
  uint32_t id = v == 0 ? 1 : (uint32_t)(o->g->address[v] >> 3 & 0x3fffffff) << 1 | 1;
  while (idmap_get(&o->ids, id) != IDMAP_NONE)
    id = o->lastspare = (o->lastspare + 2) | 1;
  if (!idmap_set(&o->ids, id, v)) o->failed = 1;
  return id;
}

/* Returns the id in "trace_tree" of the allocation site of object v; 0: v was not sampled. */
static uint64_t tracenode (const Graph *g, uint32_t v) {
  size_t n;
  const Sample *s = graph_samples(g, v, &n);
  return n > 0 ? (uint64_t)s->site + 2 : 0;
}

static void nodes (Out *o) {
  const Graph *g = o->g;
  uint32_t v, to;
  Way way;
  output_text(&o->file, "\"nodes\":[");
  for (v = 0; v < g->n; v++) {
    size_t i = 0;
    uint64_t n = 0;
    while (graph_edge(g, v, &i, &to, &way)) n++;
    if (v > 0) output_text(&o->file, ",\n");
    numbers(o, (uint64_t)typeof_(g, v), devtools_name(o, v), idof(o, v));
    output_char(&o->file, ',');
    numbers(o, graph_size(g, v), n, tracenode(g, v));
    output_text(&o->file, ",0");
  }
  output_text(&o->file, "],\n");
}

static void devtools_edge (Out *o, uint32_t v, uint32_t to, Way way) {
  uint32_t a = way_argument(way);
  char text[WORDS_MOST];
  int type = INTERNAL;
  uint64_t label;
  switch (way_kind(way)) {
    case HEAP_EINDEX: type = ELEMENT; label = a; break;
    case HEAP_EFIELD:
      type = PROPERTY;
      if (o->strings[a] != GRAPH_NONE) {
        label = textnumber(o, a);
        break;
      }
      /* fall through */
    default:
      words_step(o->g, v, to, way, way_kind(way) == HEAP_EENTRY, text);
      if (text[0] == '\0') snprintf(text, sizeof(text), "value");
      if (way_kind(way) == HEAP_EUPVALUE) type = CONTEXT;
      label = o->firstword + strlist_put(&o->words, text, strlen(text));
      break;
  }
  numbers(o, (uint64_t)type, label, (uint64_t)to * NODE_FIELDS);
}

static void edges (Out *o) {
  uint32_t v, to;
  Way way;
  int first = 1;
  output_text(&o->file, "\"edges\":[");
  for (v = 0; v < o->g->n; v++) {
    size_t i = 0;
    while (graph_edge(o->g, v, &i, &to, &way)) {
      if (!first) output_text(&o->file, ",\n");
      first = 0;
      devtools_edge(o, v, to, way);
    }
  }
  output_text(&o->file, "],\n");
}

/* Writes the allocation sites: site i has the id i + 1 in "trace_function_infos" and i + 2 in
   "trace_tree". Counts only the first sample of an object, because later ones are of its vectors
   (such as the array part of a table). */
static void traces (Out *o) {
  const Graph *g = o->g;
  uint64_t name = o->firstsite, *count = calloc(g->nsites, sizeof(*count));
  uint64_t *bytes = calloc(g->nsites, sizeof(*bytes));
  uint32_t i;
  size_t k;
  o->failed |= count == NULL || bytes == NULL;
  for (k = 0; k < g->nsamples && !o->failed; k++) {
    const Sample *s = &g->samples[k];
    if (k > 0 && s->object == s[-1].object) continue;
    count[s->site]++;
    bytes[s->site] += graph_size(g, s->object);
  }
  output_text(&o->file, "\"trace_function_infos\":[0,0,0,0,0,0");
  for (i = 0; i < g->nsites; i++, name += 2) {
    output_text(&o->file, ",\n");
    numbers(o, i + 1, name, name + 1);
    output_char(&o->file, ',');
    numbers(o, 0, g->sites[i].line, 0);
  }
  output_text(&o->file, "],\n\"trace_tree\":[1,0,0,0,[");
  for (i = 0; i < g->nsites && !o->failed; i++) {
    output_text(&o->file, i > 0 ? ",\n" : "\n");
    numbers(o, (uint64_t)i + 2, (uint64_t)i + 1, count[i]);
    output_char(&o->file, ',');
    output_uint(&o->file, bytes[i]);
    output_text(&o->file, ",[]");
  }
  output_text(&o->file, "]],\n\"samples\":[],\"locations\":[],\n");
  free(count);
  free(bytes);
}

/* Writes the file's list of strings: "(Lua state)", names of classes, texts of string objects, name
   and source of each allocation site, then o->words. */
static void strings (Out *o) {
  const char *text;
  uint32_t i, v;
  size_t k, n;
  output_text(&o->file, "\"strings\":[\"(Lua state)\"");
  for (i = 0; i < o->m->n; i++) {
    output_text(&o->file, ",\n");
    output_string(&o->file, o->m->names[i], strlen(o->m->names[i]));
  }
  for (v = 0; v < o->g->n; v++) {
    if (o->strings[v] == GRAPH_NONE) continue;
    output_text(&o->file, ",\n");
    text = graph_text(o->g, v, &n);
    output_string(&o->file, text, n);
  }
  for (i = 0; i < o->g->nsites; i++) {
    const Site *s = &o->g->sites[i];
    output_text(&o->file, ",\n");
    output_string(&o->file, i > 0 ? s->name : "(not known)", i > 0 ? strlen(s->name) : 11);
    output_text(&o->file, ",\n");
    output_string(&o->file, i > 0 ? s->source : "", i > 0 ? strlen(s->source) : 0);
  }
  for (k = 0; k < o->words.n; k++) {
    output_text(&o->file, ",\n");
    text = strlist_get(&o->words, k);
    output_string(&o->file, text, strlen(text));
  }
  output_text(&o->file, "]}\n");
}

int devtools_write (const Graph *g, const Naming *m, const char *path, int how, char *err,
                    size_t size) {
  Out *o = calloc(1, sizeof(*o));
  uint32_t v;
  int error = ENOMEM;
  if (o != NULL && strlist_init(&o->words, WORDS_BYTES) &&
      (o->strings = malloc((size_t)g->n * sizeof(*o->strings))) != NULL) {
    o->g = g;
    o->m = m;
    for (v = 0; v < g->n; v++)
      o->strings[v] = g->kind[v] == HEAP_STRING && g->info[v] != GRAPH_NONE ? o->nstrings++
                                                                            : GRAPH_NONE;
    o->firstsite = (uint64_t)m->n + 1 + o->nstrings;
    o->firstword = o->firstsite + 2 * (uint64_t)g->nsites;
    error = output_open(&o->file, path, how);
    if (error == 0) {
      output_text(&o->file, HEAD);
      output_text(&o->file, "\"node_count\":");
      output_uint(&o->file, g->n);
      output_text(&o->file, ",\"edge_count\":");
      output_uint(&o->file, (uint64_t)g->nedges + g->nlate);
      output_text(&o->file, ",\"trace_function_count\":");
      output_uint(&o->file, (uint64_t)g->nsites + 1);
      output_text(&o->file, "},\n");
      nodes(o);
      edges(o);
      traces(o);
      strings(o);
      o->failed |= o->words.failed || o->words.strings.left > 0;
      error = output_close(&o->file, !o->failed);
      if (error == 0 && o->failed) error = ENOMEM;
    }
  }
  if (error != 0) snprintf(err, size, "cannot write '%s': %s", path,
                           temporary_reason(error));
  if (o != NULL) {
    strlist_free(&o->words);
    free(o->strings);
    idmap_free(&o->ids);
  }
  free(o);
  return error == 0;
}
