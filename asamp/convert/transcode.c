/* SPDX-License-Identifier: MIT */
/* Passes the events of the reader to the encoder (transcode.h). */
#include "transcode.h"
#include "frameids.h"
#include "framename.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FATES		65536  /* largest number of samples whose survival one call of encoder_fates
                                  receives */
/* Largest number of values in a record with the paths of references to live survivors. The first
   value is a flag. Two values follow for each run of successive survivors with the same path: the
   number of survivors, and the number of the path. */
#define HOLDERS_RUNS	2047

static const char NOMEMORY[] = "not enough memory";

void transcode_sink (void *ud, Bytes *out) {
  output_bytes(ud, out->data, out->n);
  out->n = 0;
}

void transcode_split (const char *text, char *symbol, size_t symbolsize, char *file,
                      size_t filesize) {
  const char *first = strchr(text, ':');
  const char *second = first != NULL ? strchr(first + 1, ':') : NULL;
  const char *third = second != NULL ? strchr(second + 1, ':') : NULL;
  if (third == NULL)
    return;
  snprintf(symbol, symbolsize, "%.*s", (int)(second - first - 1), first + 1);
  if (strcmp(third + 1, "-") != 0)
    snprintf(file, filesize, "%s", third + 1);
}

/* Stores the symbol and the library of a native function's address, for the encoder. */
static void transcode_resolve (void *ud, uint64_t address, char *symbol,
                               size_t symbolsize, char *file, size_t filesize) {
  const Transcode *t = ud;
  uint32_t name = idmap_get(&t->r->names, address | 1);
  if (name != IDMAP_NONE)
    transcode_split(t->r->text.text + name, symbol, symbolsize, file, filesize);
}

/* Stores the labels of a label set in 'to', for the encoder. Returns their number. */
static size_t labels (void *ud, uint32_t set, ProfileLabel *to) {
  return transcode_labels(((const Transcode *)ud)->r, set, to);
}

size_t transcode_labels (const ReadProfile *r, uint32_t set, ProfileLabel *to) {
  const ReadLabelSet *from = &r->labelsets[set - 1];
  size_t i;
  for (i = 0; i < from->n && i < PROFILE_LABELS; i++) {
    to[i].name = r->text.text + r->labels[from->first + i].name;
    to[i].value = r->text.text + r->labels[from->first + i].value;
  }
  return i;
}

/* {== the Lua states of a merged file ====================================== */

static void handon (Transcode *t);
static void handondeaths (Transcode *t);

/* Makes the encoder assign the following events to the current event's state, in a merged file.
   Returns 0 and stops the reading on failure. */
static int transcode_select (Transcode *t) {
  TranscodeState *of;
  if (t->into == NULL)
    return 1;
  if (t->of != NULL && t->ofstate == t->client.state)
    return 1;
  transcode_pause(t);
  of = t->into->state(t->into->ud, t->client.state);
  if (of == NULL) {
    t->client.stop = t->client.stop != NULL ? t->client.stop : NOMEMORY;
    return 0;
  }
  t->of = of;
  t->ofstate = t->client.state;
  t->npath = 0;
  t->node = 0;
  encoder_of(t->encoder, of->id, 0);
  return 1;
}

void transcode_turn (Transcode *t) {
  (void)transcode_select(t);
}

void transcode_pause (Transcode *t) {
  if (t->of != NULL) {
    handon(t);
    handondeaths(t);
  }
  t->of = NULL;
}

/* Converts the number of a label set in the input to its number in the output; 0: no labels. */
static uint32_t labelsof (Transcode *t, uint32_t set) {
  return t->into != NULL && set != 0 ? t->into->labels(t->into->ud, set) : set;
}

/* Writes 'bytes', the sampling period of allocations and copied bytes, unless it is the one written
   last for the current state. */
static void changedbytes (Transcode *t, uint64_t bytes) {
  if (t->of->period == bytes) return;
  t->of->period = bytes;
  encoder_period(t->encoder, bytes);
}

/* Writes the period of a sample, in a merged file, if it differs from the last one written for the
   state. Does not write the period of native memory if the file's head has it. */
static void changed (Transcode *t, const ReadSample *s) {
  TranscodeState *of = t->of;
  if (s->kind == READER_TIMESAMPLE) {
    if (of->timens == s->period && of->wall == t->wall)
      return;
    of->timens = s->period;
    of->wall = t->wall;
    encoder_timeperiod(t->encoder, s->period, t->wall);
  }
  else if (!(t->r->kinds[s->kind].type == KIND_NATIVE && t->into->mallocs > 0))
    changedbytes(t, s->period);
}

/* }========================================================================= */

/* Returns the encoder; creates it at the first event. 'timeperiod': period of time samples for the
   log's head, ns; 0: unknown. 'wall' 1: these samples are of wall time; 0: of CPU time. Returns
   NULL if the reading was stopped or if out of memory. */
static Encoder *encoder (Transcode *t, uint64_t timeperiod, int wall) {
  const ReadProfile *r = t->r;
  EncoderConfig config;
  if (t->encoder != NULL || t->client.stop != NULL)
    return t->encoder;
  memset(&config, 0, sizeof(config));
  config.format = t->format;
  config.period = r->period;
  config.random = r->random;
  config.mallocs = r->mallocs;
  config.copies = r->copying && t->format == PROFILE_STOCK;
  config.timeperiod = timeperiod;
  config.wall = wall;
  config.native = r->native;
  config.followed = r->followed;
  config.pid = r->pid;
  config.recorder = r->recorder;
  config.recorded = r->recorded * 1000;
  config.command = r->command != 0 ? r->text.text + r->command : NULL;
  config.tuning = r->tuning != 0 ? r->text.text + r->tuning : NULL;
  config.resolve = transcode_resolve;
  config.resolve_ud = t;
  config.labels = labels;
  config.labels_ud = t;
  t->start = r->clock * 1000;
  t->encoder = encoder_new(&config, t->start, r->started, transcode_sink, t->o);
  if (t->encoder == NULL)
    t->client.stop = NOMEMORY;
  return t->encoder;
}

void transcode_head (void *ud, const ReadProfile *r) {
  Transcode *t = ud;
  t->r = r;
  if (!r->own)
    t->client.stop = "another profiler wrote the profile, and only profiles of Asamp can be "
                     "converted to vmprof; use another format";
  else if (r->many && t->into == NULL)
    t->client.stop = "a profile of a whole process cannot be converted to the extended format, "
                     "which has only one Lua state; use asamp report, or another format";
}

/* Call it after each event. Makes the encoder write its buffer if that is full. Stops the reading
   if the encoder has failed. */
static void transcode_ended (Transcode *t) {
  if (encoder_full(t->encoder))
    encoder_batch(t->encoder);
  if (encoder_failed(t->encoder))
    t->client.stop = NOMEMORY;
}

/* ------------------------------------------------------------- samples -- */

/* Stores the name of a frame in 'out', in the form of framename.h. */
static void composed (Transcode *t, uint64_t id, char out[FRAMENAME_LIMIT + 1]) {
  uint32_t name = idmap_get(&t->r->names, id);
  const char *text = name != IDMAP_NONE ? t->r->text.text + name : "";
  char plain[READER_MAXNAME + 1], nameless[40];
  FrameName f;
  if (framename_isours(text, strlen(text))) {
    strcpy(out, text);
    return;
  }
  if (*text == '\0') {  /* a frame without a name */
    snprintf(nameless, sizeof(nameless), "[unknown 0x%llx]", (unsigned long long)id);
    text = nameless;
  }
  framename_parse(&f, text, id);
  snprintf(plain, sizeof(plain), "%.*s", (int)f.length, f.name);
  if (id & 1)
    framename_native(out, plain, f.file);
  else
    framename_lua(out, plain, f.line <= INT32_MAX ? (int)f.line : 0, f.file);
}

/* Returns the id that the merged file uses for the frame with the id 'id' in the input. Writes the
   frame's name if the merged file does not have it yet. */
static uint64_t renamed (Transcode *t, uint64_t id) {
  char name[FRAMENAME_LIMIT + 1];
  uint64_t to;
  uint32_t at;
  if (id == 0 || frameids_isnobodys(id))
    return id;
  at = idmap_get(&t->named, id);
  if (at != IDMAP_NONE)
    return t->frame[at];
  composed(t, id, name);
  to = (id & 1) ? t->into->native(t->into->ud, name) : t->into->function(t->into->ud, name);
  if (to == 0 || !list_grow(&t->frame, t->nframe, &t->framesize, sizeof(*t->frame)) ||
      !idmap_set(&t->named, id, (uint32_t)t->nframe)) {
    t->client.stop = NOMEMORY;
    return id;
  }
  t->frame[t->nframe++] = to;
  return to;
}

/* Writes the name of the Lua function 'id' if it is not written yet. Does nothing in a merged file,
   whose names 'renamed' writes. */
static void emitfunction (Transcode *t, uint64_t id) {
  uint32_t name;
  if (t->into != NULL)
    return;
  if (id == 0 || (id & 1) || idmap_get(&t->named, id) != IDMAP_NONE)
    return;
  if (!idmap_set(&t->named, id, 0))
    t->client.stop = NOMEMORY;
  name = idmap_get(&t->r->names, id);
  if (name != IDMAP_NONE) {
    /* the profiler's names have at most FRAMENAME_LIMIT bytes */
    char text[FRAMENAME_LIMIT + 1];
    snprintf(text, sizeof(text), "%s", t->r->text.text + name);
    encoder_name(t->encoder, id, text);
  }
}

/* Handles the call tree nodes that were added since the last call: adds an element to t->place for
   each, and writes the name of its function. Returns 0 if out of memory. */
static int newnodes (Transcode *t) {
  const Tree *tree = &t->r->tree;
  if (!list_room(&t->place, tree->n, &t->placesize, sizeof(*t->place))) {
    t->client.stop = NOMEMORY;
    return 0;
  }
  for (; t->nplaces < tree->n; t->nplaces++) {
    t->place[t->nplaces] = 0;
    emitfunction(t, tree->nodes[t->nplaces].id);
  }
  return 1;
}

/* Passes the stack of a call tree node to the encoder, except the outermost frames that are equal
   to those of the previous stack. */
static void setstack (Transcode *t, uint32_t node) {
  const TreeNode *nodes = t->r->tree.nodes;
  size_t n = 0, shared = 0, i;
  uint32_t at;
  if (node == t->node || !newnodes(t))
    return;
  for (at = node; at != 0; at = nodes[at].parent) {
    if (t->place[at] < t->npath && t->path[t->place[at]] == at) {
      shared = t->place[at] + (size_t)1;
      break;
    }
    t->frames[n].id = t->into != NULL ? renamed(t, nodes[at].id) : nodes[at].id;
    t->frames[n++].line = nodes[at].line;
  }
  encoder_stack(t->encoder, shared, t->frames, n);
  t->npath = shared + n;
  for (at = node, i = t->npath; i > shared; at = nodes[at].parent) {
    t->path[--i] = at;
    t->place[at] = (uint32_t)i;
  }
  t->node = node;
}

/* Converts an allocation or copy sample to the encoder's form. For an allocation sample, the caller
   then sets the members 'size' and 'outside'. */
static ProfileSample anysample (Transcode *t, const ReadSample *s, int kind) {
  ProfileSample sample = {0};
  sample.time = t->start + s->time * 1000;
  sample.count = s->count;
  sample.thread = t->into != NULL ? t->of->id : s->thread;
  sample.label = labelsof(t, s->labels);
  sample.kind = kind;
  return sample;
}

static void transcode_sample (void *ud, const ReadSample *s) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  t->untyped += s->kind == READER_UNKNOWN ? s->count : 0;
  if (e == NULL || s->kind == READER_UNKNOWN || !transcode_select(t))
    return;  /* READER_UNKNOWN: the sample has no type that the output could contain */
  if (t->into != NULL && s->kind != READER_TIMESAMPLE &&
      t->r->kinds[s->kind].type >= KIND_COUNT) {
    t->client.stop = "the profile contains an object of a type that this version of asamp does not "
                     "know; use a newer version";
    return;
  }
  if (t->into != NULL) {
    encoder_of(e, t->of->id, t->client.thread);
    changed(t, s);
  }
  setstack(t, s->node);
  if (s->kind == READER_TIMESAMPLE) {
    ProfileTime sample;
    sample.time = t->start + s->time * 1000;
    sample.count = s->count;
    sample.thread = t->into != NULL ? t->of->id : s->thread;
    sample.label = labelsof(t, s->labels);
    encoder_time(e, &sample);
  }
  else {
    ProfileSample sample;
    uint64_t type = t->r->kinds[s->kind].type;
    if (type >= KIND_COUNT) {
      t->client.stop = "the profile contains an object of a type that this version of asamp does "
                       "not know; use a newer version";
      return;
    }
    sample = anysample(t, s, (int)type);
    sample.size = s->size;
    sample.outside = s->outside;
    encoder_sample(e, &sample);
  }
  transcode_ended(t);
}

/* Passes a sample of copied bytes (as by a growing table) to the encoder. PROFILE_EXTENDED, the
   format for forks of VMProf, has no such samples. */
static void transcode_copy (void *ud, const ReadSample *s) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  ProfileSample sample;
  if (e == NULL || t->format == PROFILE_EXTENDED || !transcode_select(t))
    return;
  if (t->into != NULL) {
    encoder_of(e, t->of->id, t->client.thread);
    changedbytes(t, s->period);
  }
  setstack(t, s->node);
  sample = anysample(t, s, COPY_NEW + (int)s->kind);
  encoder_sample(e, &sample);
  transcode_ended(t);
}

static void period (void *ud, uint64_t bytes) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  if (e == NULL || t->into != NULL)
    return;  /* in a merged file, periods are written by changedbytes */
  encoder_period(e, bytes);
  transcode_ended(t);
}

static void timeperiod (void *ud, uint64_t ns, int wall) {
  Transcode *t = ud;
  if (ns > 0)
    t->wall = wall;
  if (t->into != NULL)
    return;
  if (t->encoder == NULL) {
    encoder(t, ns, wall);
    return;
  }
  encoder_timeperiod(t->encoder, ns, wall);
  transcode_ended(t);
}

/* ----------------------------------------------------------- survival -- */

/* Returns the id in the output of the class whose name is at offset 'name'. Writes the class if it
   is new. Returns 0 if 'name' is 0 (no class) or there is not enough memory. */
static uint32_t classid (Transcode *t, uint32_t name) {
  const char *text = t->r->text.text + name;
  uint32_t id;
  if (name == 0)
    return 0;
  id = idmap_get(&t->classes, (uint64_t)name + 1);
  if (id != IDMAP_NONE)
    return id;
  id = t->nclasses + 1;
  if (t->into != NULL)
    id = t->into->class(t->into->ud, text);
  if (id == 0 || !idmap_set(&t->classes, (uint64_t)name + 1, id)) {
    t->client.stop = NOMEMORY;
    return 0;
  }
  if (t->into != NULL)
    return id;
  t->nclasses = id;
  encoder_class(t->encoder, id, text, strlen(text));
  return id;
}

/* Passes the survival of the samples in 'survived' to the encoder. */
static void handon (Transcode *t) {
  size_t i;
  int classes = 0;
  for (i = 0; i < t->nfates; i++)
    classes |= t->class[i] != 0;
  if (t->nfates > 0 && t->encoder != NULL)
    encoder_fates(t->encoder, t->survived, classes ? t->class : NULL,
                  t->nfates);
  t->nfates = 0;
}

/* Passes the deaths in 'deaths' to the encoder. At a collection, call it after handon, because
   encoder_fates makes run lengths start at the oldest survivor again. */
static void handondeaths (Transcode *t) {
  if (t->ndeaths > 0 && t->encoder != NULL)
    encoder_deaths(t->encoder, t->deaths, t->ndeaths);
  t->ndeaths = 0;
}

/* Writes the death of a sample of native memory whose Lua state has ended. */
static void orphandeath (Transcode *t, const ReadDeath *d) {
  const uint32_t runs[2] = {(uint32_t)d->place, 1};
  uint32_t number;
  if (t->into != NULL && t->into->orphaned(t->into->ud, t->client.state, &number))
    encoder_orphans(t->encoder, t->start + d->time * 1000, number, runs, 2);
}

static void transcode_death (void *ud, const ReadDeath *d) {
  Transcode *t = ud;
  if (d->orphan) {
    orphandeath(t, d);
    return;
  }
  if (!transcode_select(t) || t->of->ended)
    return;  /* the state is closed: its end implies the deaths of its objects */
  if (t->ndeaths > 0 && d->place == t->of->deathplace)
    t->deaths[t->ndeaths - 1]++;
  else {
    if (!list_grow(&t->deaths, t->ndeaths + 1, &t->deathsize,
                   sizeof(*t->deaths))) {
      t->client.stop = NOMEMORY;
      return;
    }
    t->deaths[t->ndeaths++] = (uint32_t)(d->place - t->of->deathplace);
    t->deaths[t->ndeaths++] = 1;
  }
  t->of->deathplace = d->place + 1;
}

/* Stores in 'survived' whether a sample survived its first collection. If 'survived' is full, first
   passes its FATES elements to the encoder; transcode_collection later passes the remaining ones.
   Stops the reading if the sample's survival is known, but that of an earlier sample of the state
   is unknown. */
static void transcode_fate (void *ud, const ReadSample *s, int fate, uint64_t time) {
  Transcode *t = ud;
  (void)time;
  if (encoder(t, 0, 0) == NULL || s->kind == READER_UNKNOWN || !transcode_select(t))
    return;
  if (fate == READER_UNDECIDED) {
    t->of->undecided = 1;
    return;
  }
  if (t->of->undecided)
    t->client.stop = "the limit of 2,097,152 samples between two collections was exceeded, "
                     "so the survival of later samples cannot be converted; use another format, or "
                     "a larger --alloc";
  handondeaths(t);
  t->of->deathplace = 0;
  if (t->nfates == FATES)
    handon(t);
  t->class[t->nfates] = classid(t, t->r->kinds[s->kind].class);
  t->survived[t->nfates++] = fate == READER_DIED ? 0
                             : t->r->followed > 0 && !t->client.followed ? 2
                             : 1;
}

static void transcode_collection (void *ud, const ReadCollection *from) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  ProfileCollection c = {0};
  if (e == NULL || !transcode_select(t))
    return;
  handon(t);
  handondeaths(t);
  t->of->deathplace = 0;
  c.time = t->start + from->time * 1000;
  c.inuse = t->into != NULL ? from->stateinuse : from->inuse;
  c.held = t->into != NULL ? from->stateheld : from->held;
  c.rss = from->rss;
  c.major = from->major;
  c.minors = from->minors;
  c.left = from->left * 1000;
  c.majors = from->majors;
  c.duration = from->duration * 1000;
  c.processor = from->processor * 1000;
  c.slices = from->slices * 1000;
  c.mutator = from->mutator * 1000;
  c.tenured = from->tenured;
  c.planned = from->planned;
  c.charged = from->charged;
  memcpy(c.looked, from->looked, sizeof(c.looked));
  c.state = from->state;
  c.label = labelsof(t, from->labels);
  encoder_collection(e, &c);
  transcode_ended(t);
}

static void transcode_labelled (void *ud, uint32_t set, uint64_t bytes) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  if (e == NULL || !transcode_select(t))
    return;
  encoder_labelled(e, labelsof(t, set), bytes);
  transcode_ended(t);
}

static void transcode_mark (void *ud, const ReadMark *m) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  if (e == NULL || !transcode_select(t))
    return;
  encoder_mark(e, t->start + m->time * 1000, m->name, m->namelength, m->value,
               m->valuelength);
  transcode_ended(t);
}

static void transcode_resident (void *ud, const ReadResident *r) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  if (e == NULL)
    return;
  encoder_resident(e, t->start + r->time * 1000, r->what, r->whatlength, r->bytes, r->text,
                   r->textlength);
  transcode_ended(t);
}

/* ------------------------------------------------------------- holders -- */

/* Converts the number of a path of references (0: none) in the input to its number in the output,
   where the paths of each state are numbered from 1. Writes the path if it is new, after the
   shorter path that it extends. */
static uint32_t pathid (Transcode *t, uint32_t path) {
  const ReadProfile *r = t->r;
  uint32_t parent, id = path != 0 ? idmap_get(&t->paths, path) : 0;
  if (id != IDMAP_NONE)
    return id;
  parent = pathid(t, r->paths[path - 1].parent);  /* recursion of at most READER_MAXSTEPS calls */
  id = (uint32_t)t->paths.n + 1;
  if (!idmap_set(&t->paths, path, id)) {
    t->client.stop = NOMEMORY;
    return 0;
  }
  encoder_path(t->encoder, id, parent, r->text.text + r->paths[path - 1].step);
  transcode_ended(t);
  return id;
}

/* Writes the paths of references in 'holder', and empties 'holder'. A run of equal paths is written
   as its length and the number of the path. */
static void transcode_holders (Transcode *t) {
  uint32_t runs[HOLDERS_RUNS];
  size_t at = 0, from;
  for (; at < t->nholders; at++)
    t->holder[at] = pathid(t, t->holder[at]);
  at = 0;
  while (at < t->nholders) {
    size_t n = 1;
    runs[0] = at == 0;
    for (; at < t->nholders && n < HOLDERS_RUNS; n += 2) {
      for (from = at; at < t->nholders && t->holder[at] == t->holder[from]; at++) { }
      runs[n] = (uint32_t)(at - from);
      runs[n + 1] = t->holder[from];
    }
    encoder_holders(t->encoder, runs, n);
    transcode_ended(t);
  }
  t->nholders = 0;
  idmap_free(&t->paths);
  memset(&t->paths, 0, sizeof(t->paths));
}

/* Callback for each sample alive at the end: stores its last known path of references in
   'holder'. */
static void transcode_held (void *ud, const ReadSample *s, uint32_t path) {
  Transcode *t = ud;
  size_t n = t->client.place + 1;
  (void)s;
  if (t->into != NULL && t->of != NULL && t->ofstate != t->client.state)
    transcode_holders(t);
  if (!transcode_select(t))
    return;
  if (!list_room(&t->holder, n, &t->holdersize, sizeof(*t->holder))) {
    t->client.stop = NOMEMORY;
    return;
  }
  while (t->nholders < n)
    t->holder[t->nholders++] = 0;
  t->holder[n - 1] = path;
}

static void transcode_walk (void *ud, const ReadWalk *w) {
  Transcode *t = ud;
  Encoder *e = encoder(t, 0, 0);
  if (e == NULL || !transcode_select(t))
    return;
  encoder_walk(e, t->start + w->time * 1000, w->duration * 1000);
  transcode_ended(t);
}

/* ---------------------------------------------------------------- ends -- */

uint64_t transcode_left (ProfileLeft *to, const ReadProfile *r) {
  const uint64_t *n = r->left;
  to->chunks += n[LEFT_CHUNKS];
  to->functions += n[LEFT_FUNCTIONS];
  to->classes += n[LEFT_CLASSES];
  to->natives += n[LEFT_NATIVES];
  to->paths += n[LEFT_PATHS];
  to->steps += n[LEFT_STEPS];
  to->labelnames += n[LEFT_LABELNAMES];
  to->labelvalues += n[LEFT_LABELVALUES];
  to->labelsets += n[LEFT_LABELSETS];
  to->before += n[LEFT_BEFORE];
  return n[LEFT_TEXTS];
}

int transcode_start (Transcode *t, int format, Output *o) {
  memset(t, 0, sizeof(*t));
  t->of = &t->single;
  t->format = format;
  t->o = o;
  t->client.ud = t;
  t->client.head = transcode_head;
  t->client.sample = transcode_sample;
  t->client.copy = transcode_copy;
  t->client.fate = transcode_fate;
  t->client.death = transcode_death;
  t->client.held = transcode_held;
  t->client.walk = transcode_walk;
  t->client.collection = transcode_collection;
  t->client.mark = transcode_mark;
  t->client.resident = transcode_resident;
  t->client.labelled = transcode_labelled;
  t->client.period = period;
  t->client.timeperiod = timeperiod;
  t->path = malloc(READER_MAXDEPTH * sizeof(*t->path));
  t->frames = malloc(READER_MAXDEPTH * sizeof(*t->frames));
  t->survived = malloc(FATES);
  t->class = malloc(FATES * sizeof(*t->class));
  return t->path != NULL && t->frames != NULL && t->survived != NULL && t->class != NULL;
}

int transcode_into (Transcode *t, const TranscodeInto *into, uint64_t start) {
  if (!transcode_start(t, PROFILE_STOCK, NULL))
    return 0;
  t->of = NULL;
  t->into = into;
  t->encoder = into->encoder;
  t->start = start;
  return 1;
}

const char *transcode_finish (Transcode *t, const ReadProfile *r) {
  ProfileLeft left = {0};
  uint64_t end, texts;
  t->r = r;
  if (encoder(t, 0, 0) == NULL)
    return t->client.stop;
  handon(t);
  handondeaths(t);
  if (t->into != NULL) {
    transcode_holders(t);
    return t->client.stop;
  }
  transcode_holders(t);
  texts = transcode_left(&left, r);
  encoder_left(t->encoder, &left, texts);
  encoder_allocated(t->encoder, r->allocated);
  if (!r->labelled)
    encoder_notlabelled(t->encoder);
  if (r->isring)
    encoder_ring(t->encoder, r->ring[0], r->ring[1], r->ring[2] * 1000, r->ring[3] * 1000);
  end = r->ended > r->started ? r->ended - r->started : r->duration;
  encoder_lost(t->encoder, r->lost + t->untyped);
  encoder_finish(t->encoder, t->start + end * 1000);
  return encoder_failed(t->encoder) ? NOMEMORY : NULL;
}

void transcode_free (Transcode *t) {
  if (t->encoder != NULL && t->into == NULL)
    encoder_free(t->encoder);
  free(t->path);
  free(t->place);
  free(t->frames);
  free(t->survived);
  free(t->class);
  free(t->deaths);
  free(t->holder);
  free(t->frame);
  idmap_free(&t->named);
  idmap_free(&t->classes);
  idmap_free(&t->paths);
}
