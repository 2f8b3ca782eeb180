/* SPDX-License-Identifier: MIT */
/* Writes a Firefox profile from the stored rows (firefoxfile.h). */
#include "firefoxfile.h"
#include "firefoxcolumns.h"
#include "firefoxmarks.h"
#include "firefoxrows.h"
#include "frameids.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- frames -- */

/* Returns the index of the frame with this key (FirefoxFile.byframe); adds it if needed. Sets
   'failed' if out of memory. */
static uint32_t firefoxfile_frame (FirefoxFile *w, uint64_t key, uint32_t function,
                                   uint32_t line, uint32_t category) {
  uint32_t at = idmap_get(&w->byframe, key);
  if (at != IDMAP_NONE)
    return at;
  if (!list_grow(&w->frames, w->nframes, &w->framesize, sizeof(*w->frames)) ||
      !idmap_set(&w->byframe, key, (uint32_t)w->nframes)) {
    w->failed = 1;
    return 0;
  }
  w->frames[w->nframes].function = function;
  w->frames[w->nframes].line = line;
  w->frames[w->nframes].category = category;
  return (uint32_t)w->nframes++;
}

/* Returns the category of a call tree node's frame. */
static uint32_t category (const ReadProfile *r, uint32_t node) {
  uint64_t id = r->tree.nodes[node].id;
  if (r->own && frameids_iscollection(id))
    return FIREFOX_COLLECTOR;
  if (r->own && (id == FRAME_NONE || id == FRAME_CUT || id == FRAME_TAIL))
    return FIREFOX_OTHER;
  return r->functions[r->fn[node]].native ? FIREFOX_NATIVE : FIREFOX_LUA;
}

/* Creates the frames of label sets, call tree nodes, kinds of samples, and references. Returns 0 if
   out of memory. */
static int firefoxfile_frames (FirefoxFile *w) {
  const ReadProfile *r = w->r;
  const SiteTable *leaves = &w->f->leaves;
  size_t i;
  uint64_t sets = (uint64_t)r->nfunctions + r->nkinds + w->held.nsteps;
  w->frameof = calloc(r->tree.n + leaves->nsites + w->held.nnodes, sizeof(*w->frameof));
  w->labelframes = calloc(w->stacks.nsets + 1, sizeof(*w->labelframes));
  if (w->frameof == NULL || w->labelframes == NULL)
    return 0;
  for (i = 0; i < w->stacks.nsets; i++)
    w->labelframes[i] = firefoxfile_frame(w, (uint64_t)1 << 62 | i, (uint32_t)(sets + i), 0,
                                             FIREFOX_LABELS);
  for (i = 1; i < r->tree.n; i++) {
    uint32_t line = r->tree.nodes[i].line;
    w->frameof[i] = firefoxfile_frame(w, ((uint64_t)r->fn[i] << 32 | line) + 1, r->fn[i],
                                      line, category(r, (uint32_t)i));
  }
  for (i = 0; i < leaves->nsites; i++) {
    uint32_t kind = leaves->sites[i].kind / 3;
    uint32_t fate = leaves->sites[i].kind % 3;
    w->frameof[r->tree.n + i] =
      firefoxfile_frame(w, (uint64_t)1 << 63 | leaves->sites[i].kind, r->nfunctions + kind,
                        0, FIREFOX_DIED + fate);
  }
  for (i = 1; i < w->held.nnodes; i++) {
    const HeldNode *n = &w->held.nodes[i];
    w->frameof[r->tree.n + leaves->nsites + i - 1] = n->step != HELDSTACK_NONE
      ? firefoxfile_frame(w, (uint64_t)3 << 62 | n->step, r->nfunctions + r->nkinds + n->step, 0,
                          FIREFOX_HOLDER)
      : firefoxfile_frame(w, ((uint64_t)n->function << 32 | n->line) + 1, n->function, n->line,
                          FIREFOX_LUA);
  }
  return !w->failed;
}

/* ------------------------------ tables that all threads of the file share -- */

/* Returns the number of the prefix of stack i, which is this stack without its innermost frame;
   UINT64_MAX: the prefix is empty. The number of a stack shows its kind:
   i < plain  a call tree node
   i < nodes  a call tree node with labels
   i < sites  an allocation, with its kind as the innermost frame
   else       a path of references */
static uint64_t prefix (const FirefoxFile *w, size_t i, size_t plain, size_t nodes, size_t sites) {
  uint32_t parent;
  if (i < plain)
    return fold_parent(w->fold, w->r, (uint32_t)i + 1) - UINT64_C(1);
  if (i < nodes) {
    parent = w->stacks.list[i - plain].parent;
    return parent == 0 ? UINT64_MAX : plain + parent - 1;
  }
  if (i < sites) {
    const Site *leaf = &w->f->leaves.sites[i - nodes];
    return firefoxstacks_of(&w->stacks, leaf->node, leaf->tag);
  }
  parent = w->held.nodes[i - sites + 1].parent;  /* nodes[0] is the empty stack */
  return parent == 0 ? UINT64_MAX : sites + parent - 1;
}

static void stacktable (FirefoxFile *w) {
  const ReadProfile *r = w->r;
  const SiteTable *leaves = &w->f->leaves;
  size_t plain = r->tree.n - 1, nodes = firefoxstacks_count(&w->stacks);
  size_t sites = nodes + leaves->nsites;
  size_t n = sites + w->held.nnodes - 1, i;
  FIREFOXCOLUMNS_ROWS(w, "frame", i, n,
      const FirefoxStack *s = i >= plain && i < nodes ? &w->stacks.list[i - plain] : NULL;
      output_uint(w->o, s == NULL ? w->frameof[i + 1 - (i < plain ? 0 : w->stacks.n)]
                        : s->node == 0 ? w->labelframes[s->set] : w->frameof[s->node]));
  FIREFOXCOLUMNS_ROWS(w, "prefix", i, n,
      firefoxcolumns_ornull(w, prefix(w, i, plain, nodes, sites), UINT64_MAX));
  firefoxcolumns_length(w, n);
}

static void frametable (FirefoxFile *w) {
  size_t n = w->nframes, i;
  firefoxcolumns_same(w, "address", "-1", n);
  firefoxcolumns_same(w, "inlineDepth", "0", n);
  FIREFOXCOLUMNS_ROWS(w, "category", i, n, output_uint(w->o, w->frames[i].category));
  firefoxcolumns_same(w, "subcategory", "0", n);
  FIREFOXCOLUMNS_ROWS(w, "func", i, n, output_uint(w->o, w->frames[i].function));
  firefoxcolumns_same(w, "nativeSymbol", "null", n);
  firefoxcolumns_same(w, "innerWindowID", "0", n);
  FIREFOXCOLUMNS_ROWS(w, "line", i, n, firefoxcolumns_ornull(w, w->frames[i].line, 0));
  firefoxcolumns_same(w, "column", "null", n);
  firefoxcolumns_same(w, "originalLocation", "null", n);
  firefoxcolumns_length(w, n);
}

/* Writes the table of functions, in which each name of a frame is a "function": the program's
   functions, kinds of blocks, texts of references, label sets. */
static void functable (FirefoxFile *w, const uint32_t *sources) {
  const ReadProfile *r = w->r;
  uint64_t kinds = (uint64_t)r->nfunctions + r->nkinds, steps = kinds + w->held.nsteps;
  uint64_t n = steps + w->stacks.nsets, i;
  firefoxcolumns_start(w, "name");
  for (i = 0; i < n; i++) {
    firefoxcolumns_comma(w, i);
    if (i < r->nfunctions)
      output_uint(w->o, firefoxcolumns_string(w, r->functions[i].name, r->functions[i].length));
    else if (i >= steps) {
      char text[TAGS_LABELS];
      size_t size = tags_labels(r, w->stacks.sets[i - steps], text);
      output_uint(w->o, firefoxcolumns_string(w, text, size));
    }
    else if (i >= kinds) {
      const char *step = w->held.steps[i - kinds];
      output_uint(w->o, firefoxcolumns_string(w, step, strlen(step)));
    }
    else {
      char label[READER_LABEL];
      size_t size = readprofile_kindlabel(r, (uint32_t)(i - r->nfunctions), label);
      output_uint(w->o, firefoxcolumns_string(w, label, size));
    }
  }
  firefoxcolumns_end(w);
  FIREFOXCOLUMNS_ROWS(w, "isJS", i, n,
      output_text(w->o, i < r->nfunctions && !r->functions[i].native ? "true" : "false"));
  firefoxcolumns_same(w, "relevantForJS", "false", n);
  firefoxcolumns_same(w, "resource", "-1", n);
  FIREFOXCOLUMNS_ROWS(w, "source", i, n,
      firefoxcolumns_ornull(w, i < r->nfunctions ? sources[i] : UINT32_MAX, UINT32_MAX));
  FIREFOXCOLUMNS_ROWS(w, "lineNumber", i, n,
      firefoxcolumns_ornull(w, i < r->nfunctions ? r->functions[i].line : 0, 0));
  firefoxcolumns_same(w, "columnNumber", "null", n);
  firefoxcolumns_same(w, "originalLocation", "null", n);
  firefoxcolumns_length(w, n);
}

/* Numbers the source files of the functions from 0. Sets sources[i] to the number of the file of
   function i; UINT32_MAX: no file. Sets files[k] to the index of the name of file k in the list of
   strings. Returns the number of files. */
static size_t listsources (FirefoxFile *w, uint32_t *sources, uint32_t *files) {
  const ReadProfile *r = w->r;
  IdMap byfile = {0};
  uint32_t n = 0, i;
  for (i = 0; i < r->nfunctions && !w->failed; i++) {
    const char *file = r->functions[i].file;
    uint32_t at, name;
    sources[i] = UINT32_MAX;
    if (strcmp(file, "-") == 0)
      continue;
    name = firefoxcolumns_string(w, file, strlen(file));
    at = idmap_get(&byfile, (uint64_t)name + 1);
    if (at == IDMAP_NONE) {
      if (!idmap_set(&byfile, (uint64_t)name + 1, n)) {
        w->failed = 1;
        break;
      }
      files[n] = name;
      at = n++;
    }
    sources[i] = at;
  }
  idmap_free(&byfile);
  return n;
}

/* Writes the column with the texts of n source files. The value is null if the file is not a script
   or its text is not available. */
static void texts (FirefoxFile *w, const uint32_t *files, size_t n, const uint32_t *sources) {
  const ReadProfile *r = w->r;
  char *script = calloc(n + 1, 1);
  size_t i, size;
  if (script == NULL) {
    w->failed = 1;
    return;
  }
  for (i = 0; i < r->nfunctions; i++) {
    if (!r->functions[i].native && sources[i] < n)
      script[sources[i]] = 1;
  }
  firefoxcolumns_start(w, "content");
  for (i = 0; i < n; i++) {
    const char *text = NULL;
    if (script[i] && w->f->source != NULL)
      text = w->f->source(w->f->sourceud, strlist_get(&w->strings, files[i]), &size);
    firefoxcolumns_comma(w, i);
    if (text != NULL)
      output_string(w->o, text, size);
    else
      output_text(w->o, "null");
  }
  firefoxcolumns_end(w);
  free(script);
}

static void sourcetable (FirefoxFile *w, const uint32_t *files, size_t n, const uint32_t *sources) {
  size_t i;
  firefoxcolumns_same(w, "id", "null", n);
  FIREFOXCOLUMNS_ROWS(w, "filename", i, n, output_uint(w->o, files[i]));
  firefoxcolumns_same(w, "startLine", "1", n);
  firefoxcolumns_same(w, "startColumn", "1", n);
  firefoxcolumns_same(w, "sourceMapURL", "null", n);
  texts(w, files, n, sources);
  firefoxcolumns_length(w, n);
}

/* Writes the tables that all threads share, and then the strings. Call it last, because the other
   functions add strings. */
static void shared (FirefoxFile *w) {
  const ReadProfile *r = w->r;
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
    sourcetable(w, files, nsources, sources);
    output_text(w->o, ",\n\"sourceLocationTable\":{\"source\":[],\"line\":[],"
                "\"column\":[],\"length\":0}");
    output_text(w->o, ",\n");
    firefoxcolumns_start(w, "stringArray");
    for (i = 0; i < w->strings.n; i++) {
      const char *text = strlist_get(&w->strings, (uint32_t)i);
      firefoxcolumns_comma(w, i);
      output_string(w->o, text, strlen(text));
    }
    output_text(w->o, "]}\n");
  }
  free(sources);
  free(files);
}

/* ---------------------------------------------------------------- file -- */

/* Writes the start of the thread (track of the viewer) 'number': all members before the rows of its
   samples. The thread has the name 'name' of n bytes. */
static void threadhead (FirefoxFile *w, const char *name, size_t n, uint32_t number) {
  output_text(w->o, number > 0 ? ",\n{\"name\":" : "{\"name\":");
  output_string(w->o, name, n);
  output_text(w->o, ",\"isMainThread\":");
  output_text(w->o, number == 0 ? "true" : "false");
  output_text(w->o, ",\"pid\":\"1\",\"tid\":");
  output_uint(w->o, number + (uint64_t)1);
  output_text(w->o, ",\"processType\":\"default\",\"processName\":\"Lua\","
    "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
    "\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":true,"
    "\n\"samples\":{");
}

/* Writes a "thread" of the Firefox format (a track of the viewer, not an OS thread): the data of
   the Lua states in the group w->group (tags.h). */
static void thread (FirefoxFile *w, uint32_t number) {
  char name[TAGS_TEXT + 16] = "Lua";
  size_t n = 3;
  if (w->f->tags.ngroups > 1) {
    n = (size_t)sprintf(name, "Lua state ");
    n += tags_groupname(&w->f->tags, w->group, name + n);
  }
  threadhead(w, name, n, number);
  firefoxrows_samples(w);
  output_text(w->o, ",\n\"markers\":{");
  firefoxmarks_markers(w);
  if (w->f->of[w->group].rows > 0) {
    output_text(w->o, ",\n\"nativeAllocations\":{");
    firefoxrows_allocations(w, number + 1);
  }
  output_char(w->o, '}');
}

static void threads (FirefoxFile *w) {
  static const char held[] = "Alive at the end, by holder";
  uint32_t number = 0;
  output_text(w->o, "\"threads\":[");
  /* one "thread" of the Firefox format, a track of the viewer, for each group of Lua states */
  for (w->group = 0; w->group < w->f->tags.ngroups; w->group++) {
    if (firefox_has(w->f, w->group))
      thread(w, number++);
  }
  if (w->held.nrows > 0) {  /* one more track shows the objects alive at the end */
    threadhead(w, held, sizeof(held) - 1, number);
    firefoxrows_held(w);
    output_text(w->o, ",\n\"markers\":{");
    firefoxmarks_none(w);
    output_char(w->o, '}');
  }
  output_text(w->o, "],\n");
}

const char *firefoxfile_write (Firefox *f, const ReadProfile *r, const Fold *fold,
                               const char *head, Output *o) {
  FirefoxFile w;
  int error;
  memset(&w, 0, sizeof(w));
  w.f = f;
  w.r = r;
  w.fold = fold;
  w.o = o;
  w.stretch = 1;
  if (!r->timed && f->lasttick > 0)
    w.stretch = (double)r->duration / (double)f->lasttick;
  if (!strlist_init(&w.strings, 2 * READER_MAXNAMES) ||
      !firefoxstacks_init(&w.stacks, r, fold, &f->leaves, &f->ticksites) ||
      !heldstack_init(&w.held, r, &f->held) || !firefoxfile_frames(&w))
    w.failed = 1;
  else {
    output_text(o, "{");
    output_text(o, head);
    output_text(o, ",\n");
    threads(&w);
    firefoxmarks_counters(&w);
    shared(&w);
    output_text(o, "}\n");
  }
  w.failed |= w.strings.failed;
  heldstack_free(&w.held);
  firefoxstacks_free(&w.stacks);
  free(w.labelframes);
  strlist_free(&w.strings);
  idmap_free(&w.byframe);
  free(w.frames);
  free(w.frameof);
  error = firefox_error(f);
  return error != 0 ? strerror(error) : w.failed ? "not enough memory" : NULL;
}
