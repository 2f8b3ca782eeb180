/* SPDX-License-Identifier: MIT */
/*
** Writes a Firefox profile of version 60 from what was spilled. See firefox.h.
** Every column is one pass over one spill, or over the call tree.
*/
#include "firefox.h"
#include "strlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids of frames that stand for collections and for no code at all. */
#define COLLECTORFRAME(id)	((id) == 57 || (id) == 59)
#define NOBODYSFRAME(id)	((id) == 61 || (id) == 63)

typedef struct Frame {
  uint32_t function;   /* index into the funcTable */
  uint32_t line;       /* 0: unknown */
  uint32_t category;
} Frame;

typedef struct Writer {
  Firefox *f;
  const Reading *r;
  Output *o;
  int failed;          /* memory is out */
  StrList strings;
  Frame *frames;       /* those of the tree, then those of the leaves */
  size_t nframes, framesize;
  IdMap byframe;       /* function and line, kind and fate -> frame */
  uint32_t *frameof;   /* by node, and then by leaf */
} Writer;

/* The index of a string in the shared array. */
static uint32_t string (Writer *w, const char *text, size_t n) {
  return strlist_put(&w->strings, text, n);
}

/* -------------------------------------------------------------- frames -- */

static uint32_t frame (Writer *w, uint64_t key, uint32_t function,
                       uint32_t line, uint32_t category) {
  int isnew = 0;
  uint32_t *at = idmap_at(&w->byframe, key, &isnew);
  if (at == NULL) {
    w->failed = 1;
    return 0;
  }
  if (isnew) {
    if (w->nframes == w->framesize) {
      size_t size = w->framesize == 0 ? 1024 : w->framesize * 2;
      Frame *frames = realloc(w->frames, size * sizeof(*frames));
      if (frames == NULL) {
        w->failed = 1;
        return 0;
      }
      w->frames = frames;
      w->framesize = size;
    }
    w->frames[w->nframes].function = function;
    w->frames[w->nframes].line = line;
    w->frames[w->nframes].category = category;
    *at = (uint32_t)w->nframes++;
  }
  return *at;
}

static uint32_t category (const Reading *r, uint32_t node) {
  uint64_t id = r->tree.nodes[node].id;
  if (r->own && COLLECTORFRAME(id))
    return FIREFOX_COLLECTOR;
  if (r->own && NOBODYSFRAME(id))
    return FIREFOX_OTHER;
  return r->functions[r->fn[node]].native ? FIREFOX_NATIVE : FIREFOX_LUA;
}

/* The frames of all nodes and leaves; 0 without memory. */
static int frames (Writer *w) {
  const Reading *r = w->r;
  const Ledger *leaves = &w->f->leaves;
  size_t i;
  w->frameof = calloc(r->tree.n + leaves->nsites, sizeof(*w->frameof));
  if (w->frameof == NULL)
    return 0;
  for (i = 1; i < r->tree.n; i++) {
    uint32_t line = r->tree.nodes[i].line;
    w->frameof[i] = frame(w, ((uint64_t)r->fn[i] << 32 | line) + 1, r->fn[i],
                          line, category(r, (uint32_t)i));
  }
  for (i = 0; i < leaves->nsites; i++) {
    uint32_t kind = leaves->sites[i].kind / 3;
    uint32_t fate = leaves->sites[i].kind % 3;
    w->frameof[r->tree.n + i] =
      frame(w, (uint64_t)1 << 63 | leaves->sites[i].kind, r->nfunctions + kind,
            0, FIREFOX_DIED + fate);
  }
  return !w->failed;
}

/* ------------------------------------------------------------- columns -- */

static void key (Writer *w, const char *name) {
  output_char(w->o, '"');
  output_text(w->o, name);
  output_text(w->o, "\":");
}

static void begin (Writer *w, const char *name) {
  key(w, name);
  output_char(w->o, '[');
}

static void comma (Writer *w, uint64_t i) {
  if (i > 0)
    output_char(w->o, ',');
}

static void end (Writer *w) {
  output_text(w->o, "],\n");
}

static void length (Writer *w, uint64_t n) {
  key(w, "length");
  output_uint(w->o, n);
  output_char(w->o, '}');
}

/* A column of n equal values. */
static void same (Writer *w, const char *name, const char *value, uint64_t n) {
  uint64_t i;
  begin(w, name);
  for (i = 0; i < n; i++) {
    comma(w, i);
    output_text(w->o, value);
  }
  end(w);
}

/* A column that counts up from 0. */
static void counting (Writer *w, const char *name, uint64_t n) {
  uint64_t i;
  begin(w, name);
  for (i = 0; i < n; i++) {
    comma(w, i);
    output_uint(w->o, i);
  }
  end(w);
}

/* A line or an index; 'none' is written as null. */
static void ornull (Writer *w, uint64_t n, uint64_t none) {
  if (n == none)
    output_text(w->o, "null");
  else
    output_uint(w->o, n);
}

/* A column of times: sums of the spill's differences. */
static void times (Writer *w, Spill *s, uint64_t n) {
  uint64_t i, time = 0;
  spill_rewind(s);
  begin(w, "time");
  for (i = 0; i < n; i++) {
    comma(w, i);
    time += (uint64_t)spill_take(s);
    output_ms(w->o, (int64_t)time);
  }
  end(w);
}

/* ------------------------------------------------------ shared tables -- */

/* Index of the stack that ends in a leaf. */
static uint64_t leafstack (const Writer *w, int64_t leaf) {
  return (uint64_t)leaf + w->r->tree.n - 1;
}

static void stacktable (Writer *w) {
  const Reading *r = w->r;
  const Ledger *leaves = &w->f->leaves;
  size_t nodes = r->tree.n - 1, i;
  begin(w, "frame");
  for (i = 0; i < nodes + leaves->nsites; i++) {
    comma(w, i);
    output_uint(w->o, w->frameof[i + 1]);
  }
  end(w);
  begin(w, "prefix");
  for (i = 0; i < nodes + leaves->nsites; i++) {
    uint64_t parent = i < nodes ? r->tree.nodes[i + 1].parent
                                : leaves->sites[i - nodes].node;
    comma(w, i);
    ornull(w, parent - 1, UINT64_MAX);
  }
  end(w);
  length(w, nodes + leaves->nsites);
}

static void frametable (Writer *w) {
  size_t n = w->nframes, i;
  same(w, "address", "-1", n);
  same(w, "inlineDepth", "0", n);
  begin(w, "category");
  for (i = 0; i < n; i++) {
    comma(w, i);
    output_uint(w->o, w->frames[i].category);
  }
  end(w);
  same(w, "subcategory", "0", n);
  begin(w, "func");
  for (i = 0; i < n; i++) {
    comma(w, i);
    output_uint(w->o, w->frames[i].function);
  }
  end(w);
  same(w, "nativeSymbol", "null", n);
  same(w, "innerWindowID", "0", n);
  begin(w, "line");
  for (i = 0; i < n; i++) {
    comma(w, i);
    ornull(w, w->frames[i].line, 0);
  }
  end(w);
  same(w, "column", "null", n);
  length(w, n);
}

/* Functions, then kinds. */
static void functable (Writer *w, const uint32_t *sources) {
  const Reading *r = w->r;
  uint64_t n = (uint64_t)r->nfunctions + r->nkinds, i;
  begin(w, "name");
  for (i = 0; i < n; i++) {
    comma(w, i);
    if (i < r->nfunctions)
      output_uint(w->o, string(w, r->functions[i].name,
                               r->functions[i].length));
    else {
      char label[READER_LABEL];
      size_t size = reader_kindlabel(r, (uint32_t)(i - r->nfunctions), label);
      output_uint(w->o, string(w, label, size));
    }
  }
  end(w);
  begin(w, "isJS");
  for (i = 0; i < n; i++) {
    comma(w, i);
    output_text(w->o, i < r->nfunctions && !r->functions[i].native
                      ? "true" : "false");
  }
  end(w);
  same(w, "relevantForJS", "false", n);
  same(w, "resource", "-1", n);
  begin(w, "source");
  for (i = 0; i < n; i++) {
    comma(w, i);
    ornull(w, i < r->nfunctions ? sources[i] : UINT32_MAX, UINT32_MAX);
  }
  end(w);
  begin(w, "lineNumber");
  for (i = 0; i < n; i++) {
    comma(w, i);
    ornull(w, i < r->nfunctions ? r->functions[i].line : 0, 0);
  }
  end(w);
  same(w, "columnNumber", "null", n);
  length(w, n);
}

/*
** The source of each function, UINT32_MAX for none, to 'sources'; the strings
** of the sources to 'files'. How many sources; SIZE_MAX without memory.
*/
static size_t listsources (Writer *w, uint32_t *sources, uint32_t *files) {
  const Reading *r = w->r;
  IdMap byfile = {0};
  uint32_t n = 0, i;
  for (i = 0; i < r->nfunctions && !w->failed; i++) {
    const char *file = r->functions[i].file;
    int isnew = 0;
    uint32_t *at, name;
    sources[i] = UINT32_MAX;
    if (strcmp(file, "-") == 0)
      continue;
    name = string(w, file, strlen(file));
    at = idmap_at(&byfile, (uint64_t)name + 1, &isnew);
    if (at == NULL) {
      w->failed = 1;
      break;
    }
    if (isnew) {
      files[n] = name;
      *at = n++;
    }
    sources[i] = *at;
  }
  idmap_free(&byfile);
  return n;
}

static void shared (Writer *w) {
  const Reading *r = w->r;
  uint32_t *sources = malloc((r->nfunctions + (size_t)1) * sizeof(*sources));
  uint32_t *files = malloc((r->nfunctions + (size_t)1) * sizeof(*files));
  size_t nsources, i;
  if (sources == NULL || files == NULL)
    w->failed = 1;
  else {
    nsources = listsources(w, sources, files);
    output_text(w->o, "\"shared\":{\n\"stackTable\":{");
    stacktable(w);
    output_text(w->o, ",\n\"frameTable\":{");
    frametable(w);
    output_text(w->o, ",\n\"funcTable\":{");
    functable(w, sources);
    output_text(w->o, ",\n\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],"
                "\"type\":[],\"length\":0},\n\"nativeSymbols\":{\"libIndex\":[],"
                "\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
                "\"sources\":{");
    same(w, "uuid", "null", nsources);
    begin(w, "filename");
    for (i = 0; i < nsources; i++) {
      comma(w, i);
      output_uint(w->o, files[i]);
    }
    end(w);
    length(w, nsources);
    output_text(w->o, ",\n");
    begin(w, "stringArray");
    for (i = 0; i < w->strings.n; i++) {
      const char *text = strlist_get(&w->strings, (uint32_t)i);
      comma(w, i);
      output_string(w->o, text, strlen(text));
    }
    output_text(w->o, "]}\n");
  }
  free(sources);
  free(files);
}

/* ------------------------------------------------------------- samples -- */

static void timesamples (Writer *w) {
  Firefox *f = w->f;
  uint64_t i;
  times(w, &f->tick, f->timerows);
  spill_rewind(&f->tickstack);
  begin(w, "stack");
  for (i = 0; i < f->timerows; i++) {
    comma(w, i);
    ornull(w, (uint64_t)spill_take(&f->tickstack) - 1, UINT64_MAX);
  }
  end(w);
  spill_rewind(&f->tickweight);
  begin(w, "weight");
  for (i = 0; i < f->timerows; i++) {
    int64_t ns = spill_take(&f->tickweight);
    comma(w, i);
    if (ns == 0)  /* the period is not known: a sample is one */
      output_char(w->o, '1');
    else if (ns % 1000 == 0)
      output_ms(w->o, ns / 1000);
    else {
      char text[32];
      sprintf(text, "%.6f", (double)ns / 1e6);
      output_text(w->o, text);
    }
  }
  end(w);
  key(w, "weightType");
  output_text(w->o, w->r->timeperiod > 0 ? "\"tracing-ms\",\n"
                                         : "\"samples\",\n");
  length(w, f->timerows);
}

/* A row of the track of a profile without samples of time. */
typedef struct TrackRow {
  int more;            /* there is such a row */
  uint64_t time;
  int64_t leaf, bytes;
} TrackRow;

/* What of the allocation rows has been gone through. */
typedef struct Track {
  uint64_t i, time;
  TrackRow next;
} Track;

static void nextrow (Firefox *f, Track *t) {
  t->next.more = 0;
  while (t->i < f->rows && !t->next.more) {
    t->time += (uint64_t)spill_take(&f->time);
    t->next.leaf = spill_take(&f->stack);
    t->next.bytes = spill_take(&f->weight);
    t->next.time = t->time;
    t->next.more = t->next.bytes > 0;
    t->i++;
  }
}

static void starttrack (Firefox *f, Track *t) {
  memset(t, 0, sizeof(*t));
  spill_rewind(&f->time);
  spill_rewind(&f->stack);
  spill_rewind(&f->weight);
  nextrow(f, t);
}

/* Equal stacks within a millisecond are one row. */
static int trackrow (Firefox *f, Track *t, TrackRow *row) {
  *row = t->next;
  if (!row->more)
    return 0;
  for (;;) {
    nextrow(f, t);
    if (!t->next.more || t->next.leaf != row->leaf ||
        t->next.time - row->time >= 1000)
      return 1;
    row->bytes += t->next.bytes;
  }
}

/* Allocations as samples, so that the thread's track shows something. */
static void track (Writer *w) {
  static const char *const names[] = {"time", "stack", "weight"};
  Firefox *f = w->f;
  uint64_t i = 0;
  int column;
  for (column = 0; column < 3; column++) {
    Track t;
    TrackRow row;
    starttrack(f, &t);
    begin(w, names[column]);
    for (i = 0; trackrow(f, &t, &row); i++) {
      comma(w, i);
      if (column == 0)
        output_ms(w->o, (int64_t)row.time);
      else if (column == 1)
        output_uint(w->o, leafstack(w, row.leaf));
      else
        output_int(w->o, row.bytes * (int64_t)w->r->scale);
    }
    end(w);
  }
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  length(w, i);
}

static void allocations (Writer *w) {
  Firefox *f = w->f;
  uint64_t i;
  times(w, &f->time, f->rows);
  spill_rewind(&f->stack);
  begin(w, "stack");
  for (i = 0; i < f->rows; i++) {
    comma(w, i);
    output_uint(w->o, leafstack(w, spill_take(&f->stack)));
  }
  end(w);
  spill_rewind(&f->weight);
  begin(w, "weight");
  for (i = 0; i < f->rows; i++) {
    comma(w, i);
    output_int(w->o, spill_take(&f->weight) * (int64_t)w->r->scale);
  }
  end(w);
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  spill_rewind(&f->memory);
  begin(w, "memoryAddress");
  for (i = 0; i < f->rows; i++) {
    comma(w, i);
    output_int(w->o, spill_take(&f->memory));
  }
  end(w);
  same(w, "threadId", "1", f->rows);
  length(w, f->rows);
}

/* ------------------------------------------------- collections, marks -- */

enum { TIME, DURATION, INUSE, HELD, RSS, TENURED, DECIDED, SURVIVED, LEFT,
       MAJOR, STATE, NVALUES };

typedef struct Event {
  int collection;
  int64_t v[NVALUES];
  char name[256], value[4096];  /* of a mark, cut */
  size_t namelength, valuelength;
} Event;

/* The next n bytes of the spill, as many as there is room for to 'to'. */
static size_t text (Spill *s, uint64_t n, char *to, size_t room) {
  size_t kept = 0;
  while (n > 0) {
    size_t step = n < 1024 ? (size_t)n : 1024;
    const char *piece = spill_taketext(s, step);
    size_t keep = step < room - kept ? step : room - kept;
    if (piece == NULL)
      break;
    memcpy(to + kept, piece, keep);
    kept += keep;
    n -= step;
  }
  return kept;
}

static void nextevent (Firefox *f, Event *e) {
  Spill *s = &f->event;
  int i;
  e->collection = spill_take(s) != 0;
  e->v[TIME] = spill_take(s);
  if (e->collection) {
    for (i = DURATION; i < NVALUES; i++)
      e->v[i] = spill_take(s);
  }
  else {
    uint64_t n = (uint64_t)spill_take(s);
    uint64_t m = (uint64_t)spill_take(s);
    e->namelength = text(s, n, e->name, sizeof(e->name));
    e->valuelength = text(s, m, e->value, sizeof(e->value) - 1);
    e->value[e->valuelength] = '\0';
  }
}

static void member (Writer *w, const char *name, int64_t value) {
  output_text(w->o, ",\"");
  output_text(w->o, name);
  output_text(w->o, "\":");
  output_int(w->o, value);
}

static void collectiondata (Writer *w, const Event *e) {
  static const char *const states[] = {"none", "marking", "sweeping",
                                       "finalizing"};
  const int64_t *v = e->v;
  output_text(w->o, v[MAJOR] ? "{\"type\":\"Major GC\"" :
                               "{\"type\":\"Minor GC\"");
  member(w, "inuse", v[INUSE]);
  member(w, "held", v[HELD]);
  member(w, "rss", v[RSS]);
  member(w, "tenured", v[TENURED]);
  member(w, "decided", v[DECIDED]);
  member(w, "survived", v[SURVIVED]);
  if (v[DECIDED] > 0) {
    char share[40];
    sprintf(share, ",\"survival\":%.4f",
            (double)v[SURVIVED] / (double)v[DECIDED]);
    output_text(w->o, share);
  }
  member(w, "left", v[LEFT]);
  output_text(w->o, ",\"state\":\"");
  output_text(w->o, states[v[STATE] & 3]);
  output_text(w->o, "\"}");
}

/* A decimal number as JSON has them? */
static int isnumber (const char *s) {
  size_t n;
  s += *s == '-';
  n = strspn(s, "0123456789");
  if (n == 0 || (n > 1 && *s == '0'))
    return 0;
  s += n;
  if (*s == '.') {
    n = strspn(s + 1, "0123456789");
    if (n == 0)
      return 0;
    s += n + 1;
  }
  if (*s == 'e' || *s == 'E') {
    s += 1;
    s += *s == '-' || *s == '+';
    n = strspn(s, "0123456789");
    if (n == 0 || n > 2)
      return 0;
    s += n;
  }
  return *s == '\0';
}

static void markdata (Writer *w, const Event *e) {
  output_text(w->o, "{\"type\":\"Mark\",\"value\":");
  output_string(w->o, e->value, e->valuelength);
  if (isnumber(e->value)) {
    output_text(w->o, ",\"number\":");
    output_text(w->o, e->value);
  }
  output_char(w->o, '}');
}

enum { DATA, NAME, START, END, PHASE, CATEGORY, NCOLUMNS };

static void markercell (Writer *w, const Event *e, int column) {
  int64_t time = e->v[TIME];
  switch (column) {
    case DATA:
      if (e->collection)
        collectiondata(w, e);
      else
        markdata(w, e);
      break;
    case NAME:
      if (e->collection)
        output_uint(w->o, string(w, e->v[MAJOR] ? "Major GC" : "Minor GC", 8));
      else
        output_uint(w->o, string(w, e->name, e->namelength));
      break;
    case START:
      output_ms(w->o, e->collection ? time - e->v[DURATION] : time);
      break;
    case END:
      if (e->collection)
        output_ms(w->o, time);
      else
        output_text(w->o, "null");
      break;
    case PHASE:
      output_char(w->o, e->collection ? '1' : '0');
      break;
    default:
      output_uint(w->o, e->collection ? FIREFOX_COLLECTOR : FIREFOX_OTHER);
      break;
  }
}

static void markers (Writer *w) {
  static const char *const names[NCOLUMNS] = {
    "data", "name", "startTime", "endTime", "phase", "category"
  };
  Firefox *f = w->f;
  Event e;
  uint64_t i;
  int column;
  for (column = 0; column < NCOLUMNS; column++) {
    spill_rewind(&f->event);
    begin(w, names[column]);
    for (i = 0; i < f->events; i++) {
      nextevent(f, &e);
      comma(w, i);
      markercell(w, &e, column);
    }
    end(w);
  }
  length(w, f->events);
}

/*
** A counter: 0 at the start, then what a collection changed. (The viewer takes
** the first row for 0 whatever it says.)
*/
static void counter (Writer *w, const char *description, const char *label,
                     const char *color, int weight, int which) {
  Firefox *f = w->f;
  int64_t before = 0;
  uint64_t i;
  int column;
  char text[600];
  snprintf(text, sizeof(text),
    "{\"name\":\"%s\",\"category\":\"Memory\",\"description\":\"%s\","
    "\"pid\":\"1\",\"mainThreadIndex\":0,\"display\":{\"graphType\":"
    "\"line-accumulated\",\"unit\":\"bytes\",\"color\":\"%s\","
    "\"markerSchemaLocation\":\"timeline-memory\",\"sortWeight\":%d,"
    "\"label\":\"%s\",\"tooltipRows\":[{\"type\":\"value\",\"source\":"
    "\"accumulated\",\"format\":{\"unit\":\"bytes\"},\"label\":\"%s\"}]},\n"
    "\"samples\":{", label, description, color, weight, label, label);
  output_text(w->o, text);
  for (column = 0; column < 2; column++) {
    uint64_t n = 0;
    Event e;
    spill_rewind(&f->event);
    begin(w, column == 0 ? "time" : "count");
    output_char(w->o, '0');
    for (i = 0; i < f->events; i++) {
      nextevent(f, &e);
      if (!e.collection)
        continue;
      output_char(w->o, ',');
      if (column == 0)
        output_ms(w->o, e.v[TIME]);
      else
        output_int(w->o, (int64_t)((uint64_t)e.v[which] - (uint64_t)before));
      before = e.v[which];
      n++;
    }
    end(w);
  }
  length(w, f->collections + 1);
  output_char(w->o, '}');
}

static void counters (Writer *w) {
  output_text(w->o, "\"counters\":[");
  if (w->f->collections > 0) {
    counter(w, "bytes in objects that were not freed yet", "In use", "purple",
            10, INUSE);
    output_text(w->o, ",\n");
    counter(w, "bytes obtained from the system", "Held", "blue", 11, HELD);
    output_text(w->o, ",\n");
    counter(w, "resident set of the process", "RSS", "grey", 12, RSS);
  }
  output_text(w->o, "],\n");
}

/* ---------------------------------------------------------------- file -- */

static int spilled (const Firefox *f) {
  const Spill *const spills[] = {&f->time, &f->stack, &f->weight, &f->memory,
                                 &f->tick, &f->tickstack, &f->tickweight,
                                 &f->event};
  size_t i;
  for (i = 0; i < sizeof(spills) / sizeof(spills[0]); i++) {
    if (spills[i]->error != 0)
      return spills[i]->error;
  }
  return 0;
}

static void thread (Writer *w) {
  output_text(w->o, "\"threads\":[{\"name\":\"Lua\",\"isMainThread\":true,"
    "\"pid\":\"1\",\"tid\":1,\"processType\":\"default\",\"processName\":\"Lua\","
    "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
    "\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,"
    "\n\"samples\":{");
  if (w->f->timerows > 0)
    timesamples(w);
  else
    track(w);
  output_text(w->o, ",\n\"markers\":{");
  markers(w);
  if (w->f->rows > 0) {
    output_text(w->o, ",\n\"nativeAllocations\":{");
    allocations(w);
  }
  output_text(w->o, "}],\n");
}

const char *firefox_write (Firefox *f, const Reading *r, const char *head,
                           Output *o) {
  Writer w;
  int error;
  memset(&w, 0, sizeof(w));
  w.f = f;
  w.r = r;
  w.o = o;
  bury(f);
  if (!strlist_init(&w.strings, 2 * READER_MAXNAMES) || !frames(&w))
    w.failed = 1;
  else {
    output_text(o, "{");
    output_text(o, head);
    output_text(o, ",\n");
    thread(&w);
    counters(&w);
    shared(&w);
    output_text(o, "}\n");
  }
  w.failed |= w.strings.failed;
  strlist_free(&w.strings);
  idmap_free(&w.byframe);
  free(w.frames);
  free(w.frameof);
  error = spilled(f);
  return error != 0 ? strerror(error) : w.failed ? "not enough memory" : NULL;
}
