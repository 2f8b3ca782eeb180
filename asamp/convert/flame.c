/* SPDX-License-Identifier: MIT */
/* Stacks for flame graphs (flame.h). */
#include "flame.h"
#include "heldstack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the weight of a site, that is, of the samples with one stack, kind and tag: bytes, number
   of samples, or us of time. If the sampling period of time is unknown, the weight of time is the
   number of time samples. 'weight' must not be FLAME_HELD. */
static uint64_t weightof (const ReadProfile *r, const Site *s, enum FlameWeight weight) {
  switch (weight) {
    case FLAME_BYTES: return s->bytes;
    case FLAME_SAMPLES: return s->kind != READER_TIMESAMPLE ? s->samples : 0;
    case FLAME_SURVIVED: return s->survivedbytes;
    case FLAME_ALIVE: return s->survivedbytes - s->laterbytes;
    default: return r->timeperiod > 0 ? s->ns / 1000
                    : s->kind == READER_TIMESAMPLE ? s->samples : 0;
  }
}

const char *flame_missing (const ReadProfile *r, enum FlameWeight weight) {
  if (weight == FLAME_HELD && r->npaths == 0)
    return "does not record the references to live objects (holders): the program was killed, "
           "ran with holders=0, or had no live sample at its end; use --weight alive for the "
           "lines that allocated the objects";
  if (r->samples + r->timesamples == 0 || weight == FLAME_HELD)
    return NULL;
  if (weight == FLAME_TIME)
    return r->timesamples > 0 ? NULL : "has no time samples; give another --weight";
  if (r->samples == 0)
    return "has no allocation samples; give another --weight";
  if (weight == FLAME_SURVIVED && !r->fates)
    return "does not record which samples survived a collection; give another --weight";
  if (weight == FLAME_ALIVE && (!r->fates || r->followed == 0))
    return "does not record which samples were alive at the end; give another --weight";
  return NULL;
}

/* Stores the nodes of a stack in 'path' (READER_MAXDEPTH elements), outermost first, without
   folded frames (fold.h). Returns their number. */
static size_t flame_pathof (const ReadProfile *r, const Fold *fold, uint32_t node, uint32_t *path) {
  size_t n = 0, i;
  for (; node != 0; node = fold_parent(fold, r, node))
    path[n++] = node;
  for (i = 0; i < n / 2; i++) {
    uint32_t other = path[i];
    path[i] = path[n - 1 - i];
    path[n - 1 - i] = other;
  }
  return n;
}

/* ---------------------------------------------------------- collapsed -- */

/* Writes a function: "f (x.lua:12)" or "malloc (libc.so)". */
static void framename (Output *o, const FrameName *f) {
  if (f->length == 0)
    output_text(o, "[no name]");
  output_clean(o, f->name, f->length);
  if (strcmp(f->file, "-") != 0) {
    output_text(o, " (");
    output_clean(o, f->file, strlen(f->file));
    if (f->line > 0) {
      output_char(o, ':');
      output_uint(o, f->line);
    }
    output_char(o, ')');
  }
}

/* Writes the frames of a path of references from the outermost one to 'node', separated by ';'. */
static void heldframe (const ReadProfile *r, const HeldStack *h, uint32_t node, Output *o) {
  const HeldNode *n = &h->nodes[node];
  if (n->parent != 0) {  /* recursion of at most READER_MAXSTEPS + 1 calls */
    heldframe(r, h, n->parent, o);
    output_char(o, ';');
  }
  if (n->step != HELDSTACK_NONE)
    output_clean(o, h->steps[n->step], strlen(h->steps[n->step]));
  else
    framename(o, &r->functions[n->function]);
}

/* Writes a line for each row (HeldRow): the path of references, the function that allocated the
   objects, and their bytes. Returns 0 if out of memory. */
static int heldcollapsed (const ReadProfile *r, const ReaderSum *sum, Output *o) {
  HeldStack h;
  size_t i;
  int ok = heldstack_init(&h, r, &sum->held);
  for (i = 0; i < h.nrows && ok; i++) {
    heldframe(r, &h, h.rows[i].node, o);
    output_char(o, ' ');
    output_uint(o, h.rows[i].bytes);
    output_char(o, '\n');
  }
  heldstack_free(&h);
  return ok;
}

/* Writes up to two outermost frames of a stack, each followed by ';', so that a flame graph
   separates Lua states and labels. One frame is the group of states, if there are several groups.
   The other one is the label set, if the sample has labels. 'tag' is the number that represents
   both (tags.h). Writes nothing if 't' is NULL. */
static void flame_outermost (const ReadProfile *r, const Tags *t, uint32_t tag, Output *o) {
  char text[TAGS_LABELS];
  if (t == NULL)
    return;
  if (t->ngroups > 1) {
    output_text(o, "[state ");
    output_clean(o, text, tags_groupname(t, tags_group(t, tag), text));
    output_text(o, "];");
  }
  if (t->list[tag].labels != 0) {
    output_clean(o, text, tags_labels(r, t->list[tag].labels, text));
    output_char(o, ';');
  }
}

int flame_collapsed (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                     enum FlameWeight weight, Output *o) {
  uint32_t *path = malloc(READER_MAXDEPTH * sizeof(*path));
  char label[READER_LABEL];
  size_t i, k;
  if (weight == FLAME_HELD) {
    free(path);
    return heldcollapsed(r, sum, o);
  }
  if (path == NULL)
    return 0;
  for (i = 0; i < sum->table.nsites; i++) {
    const Site *s = &sum->table.sites[i];
    uint64_t value = weightof(r, s, weight);
    size_t n = flame_pathof(r, fold, s->node, path);
    if (value == 0)
      continue;
    flame_outermost(r, sum->tags, s->tag, o);
    for (k = 0; k < n; k++) {
      if (k > 0)
        output_char(o, ';');
      framename(o, &r->functions[r->fn[path[k]]]);
    }
    if (n == 0)
      output_text(o, "[no stack]");
    if (s->kind != READER_TIMESAMPLE) {
      output_char(o, ';');
      output_clean(o, label, readprofile_kindlabel(r, s->kind, label));
    }
    output_char(o, ' ');
    output_uint(o, value);
    output_char(o, '\n');
  }
  free(path);
  return 1;
}

/* --------------------------------------------------------- speedscope -- */

/* Writes the array of frames: functions, kinds of blocks, the frame of an empty stack,
   references, label sets. A frame's number is its index. */
static void flame_frames (const ReadProfile *r, const HeldStack *h, Output *o) {
  char label[READER_LABEL];
  uint32_t i;
  for (i = 0; i < r->nfunctions; i++) {
    const FrameName *f = &r->functions[i];
    output_text(o, "{\"name\":");
    output_string(o, f->name, f->length);
    if (strcmp(f->file, "-") != 0) {
      output_text(o, ",\"file\":");
      output_string(o, f->file, strlen(f->file));
    }
    if (f->line > 0) {
      output_text(o, ",\"line\":");
      output_uint(o, f->line);
    }
    output_text(o, "},\n");
  }
  for (i = 0; i < r->nkinds; i++) {
    output_text(o, "{\"name\":");
    output_string(o, label, readprofile_kindlabel(r, i, label));
    output_text(o, "},\n");
  }
  output_text(o, "{\"name\":\"[no stack]\"}");
  for (i = 0; i < h->nsteps; i++) {
    output_text(o, ",\n{\"name\":");
    output_string(o, h->steps[i], strlen(h->steps[i]));
    output_char(o, '}');
  }
  for (i = 1; i <= r->nlabelsets; i++) {
    char text[TAGS_LABELS];
    output_text(o, ",\n{\"name\":");
    output_string(o, text, tags_labels(r, i, text));
    output_char(o, '}');
  }
}

/* The speedscope profile being written. */
typedef struct Shown {
  const ReadProfile *r;
  const Fold *fold;
  const Tags *tags;
  /* The outermost frame of a stack shows its labels. The frame of label set i has the number
     'labels' + i. */
  uint64_t labels;
  uint32_t group;      /* group of Lua states whose profile is being written */
  uint32_t *path;      /* buffer of READER_MAXDEPTH nodes */
} Shown;

/* Returns 1 if the tag's Lua state belongs to the group w->group (tags.h). */
static int isshown (const Shown *w, uint32_t tag) {
  return tags_group(w->tags, tag) == w->group;
}

/* Writes a stack as an array of frame numbers: labels, functions and the sample's kind. A time
   sample has no kind. */
static void flame_stack (const Shown *w, uint32_t node, uint32_t kind, uint32_t tag, Output *o) {
  const ReadProfile *r = w->r;
  const uint32_t *path = w->path;
  size_t n = flame_pathof(r, w->fold, node, w->path), k;
  uint32_t labels = w->tags->list[tag].labels;
  output_char(o, '[');
  if (labels != 0) {
    output_uint(o, w->labels + labels);
    output_char(o, ',');
  }
  for (k = 0; k < n; k++) {
    if (k > 0)
      output_char(o, ',');
    output_uint(o, r->fn[path[k]]);
  }
  if (n == 0)
    output_uint(o, (uint64_t)r->nfunctions + r->nkinds);
  if (kind != READER_TIMESAMPLE) {
    output_char(o, ',');
    output_uint(o, (uint64_t)r->nfunctions + kind);
  }
  output_char(o, ']');
}

/* A site. 'site': its index. 'place': position of its node in a depth-first walk of the call
   tree. */
typedef struct Placed {
  uint32_t place, site;
} Placed;

static int byplace (const void *a, const void *b) {
  const Placed *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  return x->site < y->site ? -1 : x->site > y->site;
}

/* Returns the position of each node in a depth-first walk of the call tree, or NULL if out of
   memory. A first pass computes the sizes of subtrees, a second the positions. */
static uint32_t *flame_places (const ReadProfile *r) {
  uint32_t n = r->tree.n, i;
  /* size[i]: in the first pass, the number of nodes in the subtree of node i; in the second pass,
     the position of the next child of node i. */
  uint32_t *size = calloc(n, sizeof(*size));
  uint32_t *place = calloc(n, sizeof(*place));
  if (size == NULL || place == NULL) {
    free(size);
    free(place);
    return NULL;
  }
  for (i = n - 1; i > 0; i--)
    size[r->tree.nodes[i].parent] += ++size[i];
  size[0] = 1;
  for (i = 1; i < n; i++) {
    uint32_t parent = r->tree.nodes[i].parent, own = size[i];
    place[i] = size[parent];
    size[parent] += own;
    size[i] = place[i] + 1;
  }
  free(size);
  return place;
}

/* Returns the sites in the order of a depth-first walk of the call tree, or NULL if out of
   memory. */
static Placed *flame_walk (const ReadProfile *r, const ReaderSum *sum) {
  uint32_t *place = flame_places(r);
  size_t n = sum->table.nsites, i;
  Placed *sites = malloc((n + 1) * sizeof(*sites));
  if (place != NULL && sites != NULL) {
    for (i = 0; i < n; i++) {
      sites[i].place = place[sum->table.sites[i].node];
      sites[i].site = (uint32_t)i;
    }
    qsort(sites, n, sizeof(*sites), byplace);
  }
  else {
    free(sites);
    sites = NULL;
  }
  free(place);
  return sites;
}

/* Writes the start of the speedscope profile 'name' of the Lua states in the group w->group
   (tags.h). If there are several groups, adds the name of this one to the name of the profile. 'w'
   is NULL for a profile of all groups. */
static void profilehead (const Shown *w, const char *name, const char *unit, Output *o) {
  char text[TAGS_TEXT + 64];
  size_t n = (size_t)sprintf(text, "%s", name);
  if (w != NULL && w->tags->ngroups > 1) {
    n += (size_t)sprintf(text + n, ", state ");
    n += tags_groupname(w->tags, w->group, text + n);
  }
  output_text(o, "{\"type\":\"sampled\",\"name\":");
  output_string(o, text, n);
  output_text(o, ",\"unit\":\"");
  output_text(o, unit);
  output_text(o, "\",\"startValue\":0,\n\"samples\":[");
}

static void profileend (Output *o, uint64_t total) {
  output_text(o, "],\n\"endValue\":");
  output_uint(o, total);
  output_char(o, '}');
}

/* Writes the speedscope profile of the weight 'weight' (flame.h): a sample for each site of the Lua
   states in group w->group. 'order' has the sites in the order of a depth-first walk of the call
   tree. */
static void siteprofile (const Shown *w, const ReaderSum *sum, const Placed *order,
                         enum FlameWeight weight, const char *name, Output *o) {
  uint64_t total = 0;
  int column;
  profilehead(w, name, "bytes", o);
  for (column = 0; column < 2; column++) {
    size_t i, n = 0;
    if (column == 1)
      output_text(o, "],\n\"weights\":[");
    for (i = 0; i < sum->table.nsites; i++) {
      const Site *s = &sum->table.sites[order[i].site];
      uint64_t value = weightof(w->r, s, weight);
      if (value == 0 || !isshown(w, s->tag))
        continue;
      if (n++ > 0)
        output_char(o, ',');
      if (column == 0)
        flame_stack(w, s->node, s->kind, s->tag, o);
      else {
        output_uint(o, value);
        total += value;
      }
    }
  }
  profileend(o, total);
}

/* Writes the frames of a path of references up to 'node', as frame numbers. */
static void heldpath (const ReadProfile *r, const HeldStack *h, uint32_t node, Output *o) {
  const HeldNode *n = &h->nodes[node];
  if (n->parent != 0) {
    heldpath(r, h, n->parent, o);
    output_char(o, ',');
  }
  output_uint(o, n->step == HELDSTACK_NONE ? n->function
                 : (uint64_t)r->nfunctions + r->nkinds + 1 + n->step);
}

static void heldprofile (const ReadProfile *r, const HeldStack *h, Output *o) {
  uint64_t total = 0;
  size_t i;
  profilehead(NULL, "Alive at the end, by holder", "bytes", o);
  for (i = 0; i < h->nrows; i++) {
    output_text(o, i > 0 ? ",[" : "[");
    heldpath(r, h, h->rows[i].node, o);
    output_char(o, ']');
  }
  output_text(o, "],\n\"weights\":[");
  for (i = 0; i < h->nrows; i++) {
    if (i > 0)
      output_char(o, ',');
    output_uint(o, h->rows[i].bytes);
    total += h->rows[i].bytes;
  }
  profileend(o, total);
}

/* Writes the time samples of the Lua states in the group w->group (tags.h). 'ticks' has the n time
   samples of all states. If the sampling period is unknown, each sample has the weight 1, because
   its time is unknown. */
static void timeprofile (const Shown *w, Spill *ticks, uint64_t n, Output *o) {
  uint64_t total = 0, i;
  int column;
  profilehead(w, w->r->wall ? "Wall time" : "CPU time",
              w->r->timeperiod > 0 ? "nanoseconds" : "none", o);
  for (column = 0; column < 2; column++) {
    if (column == 1)
      output_text(o, "],\n\"weights\":[");
    uint64_t k = 0;
    spill_rewind(ticks);
    for (i = 0; i < n; i++) {
      uint32_t node = (uint32_t)spill_take(ticks);
      uint64_t ns = (uint64_t)spill_take(ticks);
      uint32_t tag = (uint32_t)spill_take(ticks);
      if (ticks->error != 0 || !isshown(w, tag))
        continue;
      if (ns == 0)
        ns = 1;
      if (k++ > 0)
        output_char(o, ',');
      if (column == 0)
        flame_stack(w, node, READER_TIMESAMPLE, tag, o);
      else {
        output_uint(o, ns);
        total += ns;
      }
    }
  }
  profileend(o, total);
}

static void flame_head (void *ud, const ReadProfile *r) {
  Flame *f = ud;
  f->sum.client.head(&f->sum, r);
}

/* Sets the Lua state of the client f->sum to that of the current event, before f->sum counts the
   event. */
static void whose (Flame *f) {
  f->sum.client.state = f->client.state;
  f->sum.client.row = f->client.row;
}

static void flame_sample (void *ud, const ReadSample *s) {
  Flame *f = ud;
  whose(f);
  if (s->kind == READER_TIMESAMPLE) {
    uint32_t tag = tags_at(&f->tags, &f->client, s->labels, 0);
    spill_put(&f->ticks, s->node);
    spill_put(&f->ticks, (int64_t)readsample_bytes(s));
    spill_put(&f->ticks, tag != TAGS_NONE ? tag : 0);
    f->nticks++;
  }
  f->sum.client.sample(&f->sum, s);
  f->client.stop = f->sum.client.stop;
}

static void flame_fate (void *ud, const ReadSample *s, int fate, uint64_t time) {
  Flame *f = ud;
  whose(f);
  f->sum.client.fate(&f->sum, s, fate, time);
  f->client.tag = f->sum.client.tag;
  f->client.stop = f->sum.client.stop;
}

static void flame_held (void *ud, const ReadSample *s, uint32_t path) {
  Flame *f = ud;
  f->sum.client.held(&f->sum, s, path);
  f->client.stop = f->sum.client.stop;
}

static void flame_death (void *ud, const ReadDeath *d) {
  Flame *f = ud;
  f->sum.client.death(&f->sum, d);
  f->client.stop = f->sum.client.stop;
}

const char *flame_start (Flame *f, const char *directory, int by) {
  int error;
  memset(f, 0, sizeof(*f));
  f->client.ud = f;
  f->client.head = flame_head;
  f->client.sample = flame_sample;
  f->client.fate = flame_fate;
  f->client.death = flame_death;
  f->client.held = flame_held;
  f->ticks.fd = -1;
  if (!readersum_start(&f->sum, 0, READERSUM_EVER) || !tags_init(&f->tags, by))
    return "not enough memory";
  f->sum.tags = &f->tags;
  error = spill_open(&f->ticks, directory);
  return error != 0 ? strerror(error) : NULL;
}

void flame_free (Flame *f) {
  readersum_free(&f->sum);
  tags_free(&f->tags);
  spill_close(&f->ticks);
}

/* Returns 1 if the file has a profile of this weight for group w->group: the weight of one of the
   group's sites is above 0, or there is only one group. */
static int has (const Flame *f, const Shown *w, enum FlameWeight weight) {
  size_t i;
  for (i = 0; i < f->sum.table.nsites; i++) {
    const Site *s = &f->sum.table.sites[i];
    if (isshown(w, s->tag) && (weight == FLAME_TIME ? s->kind == READER_TIMESAMPLE
                                                     : weightof(w->r, s, weight) > 0))
      return 1;
  }
  return w->tags->ngroups == 1;
}

/* Writes all profiles of the file. 'order' is the result of flame_walk. */
static void profiles (Flame *f, Shown *w, const Placed *order, const HeldStack *h, Output *o) {
  static const struct { enum FlameWeight weight; const char *name; } all[] = {
    {FLAME_BYTES, "Allocated"}, {FLAME_SURVIVED, "Survived"}, {FLAME_ALIVE, "Alive at the end"},
    {FLAME_TIME, NULL}
  };
  int isheap = w->r->samples > 0 || f->nticks == 0, n = 0;
  size_t i;
  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    int isone = all[i].name == NULL ? f->nticks > 0
                : isheap && (i == 0 || flame_missing(w->r, all[i].weight) == NULL);
    if (all[i].name == NULL && isheap && h->nrows > 0) {
      output_text(o, n++ > 0 ? ",\n" : "");
      heldprofile(w->r, h, o);
    }
    for (w->group = 0; isone && w->group < w->tags->ngroups; w->group++) {
      if (!has(f, w, all[i].weight))
        continue;
      output_text(o, n++ > 0 ? ",\n" : "");
      if (all[i].name != NULL)
        siteprofile(w, &f->sum, order, all[i].weight, all[i].name, o);
      else
        timeprofile(w, &f->ticks, f->nticks, o);
    }
  }
}

const char *flame_speedscope (Flame *f, const ReadProfile *r, const Fold *fold,
                              const char *name, Output *o) {
  Shown w = {r, fold, &f->tags, 0, 0, malloc(READER_MAXDEPTH * sizeof(*w.path))};
  Placed *order;
  HeldStack h;
  int ok;
  readersum_finish(&f->sum, r);
  order = flame_walk(r, &f->sum);
  ok = heldstack_init(&h, r, &f->sum.held) && w.path != NULL && order != NULL;
  w.labels = (uint64_t)r->nfunctions + r->nkinds + h.nsteps;
  if (ok) {
    output_text(o, "{\"$schema\":\"https://www.speedscope.app/"
                "file-format-schema.json\",\"exporter\":\"asamp\",\"name\":");
    output_string(o, name, strlen(name));
    output_text(o, ",\n\"shared\":{\"frames\":[\n");
    flame_frames(r, &h, o);
    output_text(o, "\n]},\n\"profiles\":[\n");
    profiles(f, &w, order, &h, o);
    output_text(o, "\n]}\n");
  }
  heldstack_free(&h);
  free(w.path);
  free(order);
  return !ok ? "not enough memory"
         : f->ticks.error != 0 ? strerror(f->ticks.error) : NULL;
}
