/* SPDX-License-Identifier: MIT */
/* Encodes the events of a profile (encoder.h). An encoder keeps in memory: output that the sink has
   not taken, the details of the current batch of samples, the current stack and the numbers of each
   Lua state, ids of functions, and native addresses. In the extended format it also keeps the
   sampled objects whose survival is not known yet (objects.h). */
#include "batch.h"
#include "details.h"
#include "frameids.h"
#include "framename.h"
#include "encoder.h"
#include "bounds.h"
#include "idmap.h"
#include "list.h"
#include "objects.h"
#include "origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The output is passed to the sink when it has at least this number of bytes. */
#define ENOUGH		(64u * 1024)

#define FRAME		16    /* bytes of a frame in a record */

struct Encoder {
  Bytes out;
  EncoderSink sink;
  void *sinkud;
  EncoderConfig config;
  uint64_t start;       /* start of the log by CLOCK_MONOTONIC, ns */
  uint64_t epoch;       /* start of the log, us since 1970 */
  uint64_t last;        /* time of the last stack, ns */
  int failed;
  int periodwritten;       /* 1: the meta record "period" is written */
  /* Bit set of the pseudo-frames, such as "minor collection", whose names are already written.
     Their ids (FRAME_...) are odd numbers below 128; the bit for 'id' has the number id / 2. */
  uint64_t used;
  unsigned nbatch;      /* number of batches written so far */
  Batch batch;
  Origins origins;
  Origin *of;           /* Lua state to which the following events belong */
  Origin spare;         /* used in place of a state's Origin if there is no memory for a new
                           Origin */
  uint64_t lost;        /* number of samples that are missing in the log */
  uint64_t undecided;   /* number of samples of ended states whose survival is unknown */
  uint64_t nstates;       /* number of Lua states in the log */
  uint64_t allocated;   /* exact number of bytes that all states together have allocated; 0:
                           unknown */
  int notallocated;     /* 1: 'allocated' is not written, because the bytes of some states are
                           unknown */
  int notlabelled;      /* 1: bytes by label set are unknown */
  ProfileLeft left;
  uint64_t texts;       /* number of names, labels and other texts of the program that were
                           truncated */
  uint64_t natives;     /* number of frames without a name, because too many native addresses
                           occurred */
  Objects objects;      /* extended format: sampled objects whose survival is not known yet */
  IdMap named;          /* set of the ids of functions whose names are written */
  IdMap seen;           /* set of the native addresses that have occurred in stacks */
  Bytes fresh;          /* native addresses whose names are not written yet */
  IdMap labels;         /* maps the number + 1 of a label set in the process to its number in the
                           file */
  uint32_t nlabels;
};

static int extended (const Encoder *e) {
  return e->config.format == PROFILE_EXTENDED;
}

/* --------------------------------------------------------------- head -- */

static void encoder_meta (Encoder *e, const char *key, const char *value) {
  vmprof_meta(&e->out, key, value, strlen(value));
}

static void metanumber (Encoder *e, const char *key, uint64_t n) {
  char text[24];
  sprintf(text, "%llu", (unsigned long long)n);
  encoder_meta(e, key, text);
}

/* Writes the meta record "period" once: the seconds between two time samples; 0 if the log has no
   time samples. Called after the first time sample and at the end. The 0 is needed because
   converters of other tools divide by the number of time samples if the period is not 0. */
static void metaperiod (Encoder *e) {
  uint64_t ns = e->config.timeperiod;
  char text[32];
  size_t n;
  if (e->periodwritten)
    return;
  n = (size_t)sprintf(text, "%llu.%09llu",
                      (unsigned long long)(ns / 1000000000),
                      (unsigned long long)(ns % 1000000000));
  while (text[n - 1] == '0' && text[n - 2] != '.')
    text[--n] = '\0';
  encoder_meta(e, "period", text);
  e->periodwritten = 1;
}

static void nativename (Encoder *e, uint64_t id, const char *symbol) {
  char name[FRAMENAME_LIMIT + 1];
  framename_native(name, symbol, "");
  vmprof_name(&e->out, VMPROF_NATIVENAME, id, name);
}

/* Writes the name of the special frame 'id' (FRAME_...), unless it is already written. */
static void use (Encoder *e, uint64_t id) {
  uint64_t bit = (uint64_t)1 << id / 2;  /* ids are odd */
  if (e->used & bit)
    return;
  e->used |= bit;
  nativename(e, id, framename_nobodys(id));
}

static void encoder_head (Encoder *e) {
  int i;
  int mode = VMPROF_LINES | (e->config.native ? VMPROF_NATIVE : 0);
  vmprof_start(&e->out, e->config.timeperiod / 1000, e->config.format, mode,
               "lua");
  vmprof_time(&e->out, VMPROF_TIME, e->epoch);
  encoder_meta(e, "os", "linux");
  encoder_meta(e, "bits", "64");
  metanumber(e, "sample_allocated_bytes", e->config.period);
  if (e->config.command != NULL)
    encoder_meta(e, "argv", e->config.command);
  encoder_meta(e, "asamp.format", e->config.states ? DETAILS_STATESTEXT : DETAILS_FORMATTEXT);
  metanumber(e, "asamp.start", e->start / 1000);
  if (e->config.pid != 0)
    metanumber(e, "asamp.pid", e->config.pid);
  if (e->config.recorder > 0) {
    char text[48];
    sprintf(text, "%llu %llu", (unsigned long long)e->config.recorder,
            (unsigned long long)e->config.recorded / 1000);
    encoder_meta(e, "asamp.recorder", text);
  }
  if (e->config.tuning != NULL)
    encoder_meta(e, "asamp.gc", e->config.tuning);
  metanumber(e, "asamp.random", (uint64_t)(e->config.random != 0));
  if (e->config.merged > 0)
    metanumber(e, "asamp.merged", e->config.merged);
  if (e->config.sources != NULL)
    encoder_meta(e, "asamp.sources", e->config.sources);
  if (e->config.mallocs > 0)
    metanumber(e, "asamp.malloc", e->config.mallocs);
  if (e->config.copies)
    encoder_meta(e, "asamp.copies", "1");
  if (e->config.followed > 0)
    metanumber(e, "asamp.followed", e->config.followed);
  if (extended(e)) {
    char text[48];
    /* start of the log in seconds by CLOCK_MONOTONIC, the clock of the times of stacks */
    sprintf(text, "%llu.%06llu", (unsigned long long)(e->start / 1000000000),
            (unsigned long long)(e->start / 1000 % 1000000));
    encoder_meta(e, "start_time_offset", text);
    for (i = 0; i < OBJECTS_NSTATS; i++) {
      char key[32];
      sprintf(key, "gc_stats__%d", i);
      encoder_meta(e, key, objects_stats[i]);
    }
    for (i = 0; i < KIND_COUNT; i++) {
      char key[32];
      sprintf(key, "__rtype_%d", i);
      encoder_meta(e, key, profile_kindname(i));
    }
  }
  use(e, FRAME_NONE);  /* represents an empty stack */
  if (e->config.timeperiod > 0)
    batch_timeperiod(&e->batch, e->config.timeperiod, e->config.wall);
}

Encoder *encoder_new (const EncoderConfig *config, uint64_t start,
                      uint64_t epoch, EncoderSink sink, void *ud) {
  Encoder *e = spare_calloc(1, sizeof(*e));
  if (e == NULL)
    return NULL;
  e->config = *config;
  e->sink = sink;
  e->sinkud = ud;
  e->start = start;
  e->epoch = epoch;
  e->last = start;
  e->of = origins_get(&e->origins, 0);
  encoder_head(e);
  e->config.command = e->config.sources = NULL;  /* not used any more; the caller may free them */
  if (e->out.failed || e->of == NULL) {
    encoder_free(e);
    return NULL;
  }
  return e;
}

void encoder_free (Encoder *e) {
  bytes_free(&e->out);
  bytes_free(&e->fresh);
  batch_free(&e->batch);
  objects_free(&e->objects);
  origins_free(&e->origins);
  idmap_free(&e->named);
  idmap_free(&e->seen);
  idmap_free(&e->labels);
  free(e);
}

/* Passes the output to the sink if it has at least 'enough' bytes. Call it between records. */
static void encoder_drain (Encoder *e, size_t enough) {
  if (e->out.n >= enough && e->out.n > 0)
    e->sink(e->sinkud, &e->out);
}

int encoder_failed (const Encoder *e) {
  return e->failed || e->out.failed || e->fresh.failed || e->objects.failed ||
         batch_failed(&e->batch);
}

/* Returns the microseconds from the start of the log to 'time'. */
static uint64_t since (const Encoder *e, uint64_t time) {
  return time > e->start ? (time - e->start) / 1000 : 0;
}

/* -------------------------------------------------------------- names -- */

/* Returns 1 if each state numbers its functions and classes itself, from 1. The encoder then
   replaces the numbers in events by numbers of the log, which all states share (origin.h). */
static int islocal (const Encoder *e) {
  return e->config.states && !e->config.numbered;
}

/* Records the name of a function. Does nothing if it was recorded before: the sampler may report a
   function again. */
void encoder_name (Encoder *e, uint64_t id, const char *name) {
  if (islocal(e)) {
    int isnew;
    uint32_t number = origins_function(&e->origins, e->of, id / 8, &name, &isnew);
    e->failed |= number == 0;
    if (isnew)
      vmprof_name(&e->out, VMPROF_NAME, (uint64_t)number * 8, name);
    return;
  }
  if (idmap_get(&e->named, id) != IDMAP_NONE)
    return;
  if (!idmap_set(&e->named, id, 0))
    e->failed = 1;
  vmprof_name(&e->out, VMPROF_NAME, id, name);
}

/* Stores the native address of a frame if it is new, so that its name is written later. If
   ENCODER_MAXNATIVES addresses are stored and this one is new, only increments e->natives. */
static void touch (Encoder *e, uint64_t id) {
  if (idmap_get(&e->seen, id) != IDMAP_NONE)
    return;
  if (e->seen.n == ENCODER_MAXNATIVES) {
    e->natives++;
    return;
  }
  if (!idmap_set(&e->seen, id, 0))
    e->failed = 1;
  bytes_add(&e->fresh, &id, sizeof(id));
}

static void namefresh (Encoder *e) {
  size_t i;
  for (i = 0; i < e->fresh.n; i += sizeof(uint64_t)) {
    char symbol[512] = "", library[1024] = "";
    char name[FRAMENAME_LIMIT + 1];
    uint64_t id, address;
    memcpy(&id, e->fresh.data + i, sizeof(id));
    address = id & ~(uint64_t)1;
    e->config.resolve(e->config.resolve_ud, address, symbol, sizeof(symbol),
                      library, sizeof(library));
    if (symbol[0] == '\0')
      strcpy(symbol, "[unknown code]");
    framename_native(name, symbol, library);
    vmprof_name(&e->out, VMPROF_NATIVENAME, id, name);
  }
  e->fresh.n = 0;
}

/* ------------------------------------------------------------- stacks -- */

void encoder_stack (Encoder *e, size_t shared, const ProfileFrame *frames,
                    size_t n) {
  Frames *s = &e->of->stack;
  unsigned char *to;
  size_t k;
  if (shared > s->n)
    shared = s->n;
  if (!list_roomahead(&s->block, shared + n, shared, &s->size, FRAME)) {
    e->failed = 1;
    return;
  }
  s->n = shared + n;
  to = s->block + (s->size - s->n) * FRAME;
  for (k = 0; k < n; k++) {
    uint64_t id = frames[k].id;
    if (islocal(e) && (id & 7) == 0)
      id = (uint64_t)origin_number(&e->of->functions, id / 8) * 8;
    /* no function has such an id; readers would take it for a source line or an object type */
    if (id == 0 || id >> 63 || ((id & 1) && id < FRAME_MINOR))
      id = FRAME_NONE;
    bytes_putword(to, frames[k].line);
    bytes_putword(to + 8, id);
    to += FRAME;
    if (frameids_isnobodys(id))
      use(e, id);
    else if ((id & 1) && e->config.resolve != NULL)
      touch(e, id);
  }
}

static unsigned char *putframe (unsigned char *to, uint64_t id) {
  bytes_putword(to, 0);
  bytes_putword(to + 8, id);
  return to + FRAME;
}

static unsigned char *copyframes (unsigned char *to, const unsigned char *from, size_t n) {
  memcpy(to, from, n * FRAME);
  return to + n * FRAME;
}

/* Writes the frames of the stack. Of a stack deeper than PROFILE_DEPTH, writes only the frames at
   both ends, with FRAME_CUT between them. Writes FRAME_NONE for an empty stack. Returns the address
   after the last byte written. */
static unsigned char *putframes (unsigned char *to, const Frames *s) {
  size_t inner = PROFILE_DEPTH / 2, outer = PROFILE_DEPTH - inner - 1;
  const unsigned char *first = s->block + (s->size - s->n) * FRAME;
  if (s->n == 0)
    return putframe(to, FRAME_NONE);
  if (s->n <= PROFILE_DEPTH)
    return copyframes(to, first, s->n);
  to = putframe(copyframes(to, first, inner), FRAME_CUT);
  return copyframes(to, s->block + (s->size - outer) * FRAME, outer);
}

/* Returns the number of frames that putframes writes. */
static size_t depthof (const Frames *s) {
  return s->n == 0 ? 1 : s->n < PROFILE_DEPTH ? s->n : PROFILE_DEPTH;
}

/* Returns how many copies of a sample's stack record to write: one for each of the 'count' sampling
   periods that the sample represents, because readers of the VMProf format count records, but at
   most as many as fit into ENCODER_COPYBYTES. 'length': bytes of one copy. */
static uint32_t copiesof (uint64_t count, size_t length) {
  uint64_t most = ENCODER_COPYBYTES / length;
  return (uint32_t)(count < most ? count : most);
}

/* Appends n copies of the record of 'length' bytes at offset 'from' of the output. Passes the
   output to the sink whenever it has at least ENOUGH bytes. */
static void repeat (Encoder *e, size_t from, size_t length, uint32_t n) {
  unsigned char *to;
  Bytes record = {0};
  for (; n > 0 && e->out.n + length <= ENOUGH; n--) {
    if ((to = bytes_grow(&e->out, length)) == NULL)
      return;
    memcpy(to, e->out.data + from, length);
  }
  if (n > 0)
    bytes_add(&record, e->out.data + from, length);
  e->failed |= record.failed;
  for (; n > 0 && !record.failed; n--) {
    bytes_add(&e->out, record.data, length);
    encoder_drain(e, ENOUGH);
  }
  bytes_free(&record);
}

/* Writes the record of the current stack 'count' times, but at most ENCODER_COPYBYTES bytes. 'leaf'
   is an additional innermost frame for the object's type; 0: none. Returns the number of copies. */
static uint32_t stackrecords (Encoder *e, int marker, uint64_t leaf,
                              uint64_t thread, uint64_t count) {
  size_t words = 2 * (depthof(&e->of->stack) + (leaf != 0));
  uint64_t lead = extended(e) ? vmprof_seconds((double)e->last / 1e9) : VMPROF_ONCE;
  size_t from, length;
  unsigned char *to;
  uint32_t copies;
  if (leaf != 0)
    use(e, leaf);
  if (e->of->stack.n > PROFILE_DEPTH)
    use(e, FRAME_CUT);
  from = e->out.n;
  to = vmprof_record(&e->out, marker, lead, words, words + 1);
  if (to == NULL)
    return 1;
  if (leaf != 0)
    to = putframe(to, leaf);
  bytes_putword(putframes(to, &e->of->stack), thread);
  length = e->out.n - from;
  copies = copiesof(count, length);
  if (copies > 1)
    repeat(e, from, length, copies - 1);
  encoder_drain(e, ENOUGH);
  return copies;
}

/* Returns the number of a label set in the file; 0: no labels. Adds the labels of a new set to the
   batch. */
static uint32_t labelled (Encoder *e, uint32_t set) {
  ProfileLabel labels[PROFILE_LABELS];
  uint32_t id;
  size_t i, n;
  if (set == 0 || e->config.labels == NULL)
    return 0;
  id = idmap_get(&e->labels, (uint64_t)set + 1);
  if (id != IDMAP_NONE)
    return id;
  n = e->config.labels(e->config.labels_ud, set, labels);
  id = n > 0 ? e->nlabels + 1 : 0;
  if (!idmap_set(&e->labels, (uint64_t)set + 1, id)) {
    e->failed = 1;
    return 0;
  }
  for (i = 0; i < n; i++)
    batch_label(&e->batch, id, labels[i].name, labels[i].value);
  e->nlabels += n > 0;
  return id;
}

/* Sets the time of the next stack to 'time', or to the time of the last stack if that is later. */
static void settime (Encoder *e, uint64_t time) {
  if (time > e->last)
    e->last = time;
}

void encoder_sample (Encoder *e, const ProfileSample *s) {
  uint32_t copies;
  settime(e, s->time);
  if (profile_iscopy(s->kind)) {
    copies = stackrecords(e, VMPROF_STACK, frameids_type(s->kind), s->thread, s->count);
    batch_sample(&e->batch, since(e, e->last), !extended(e), s->count, copies,
                 labelled(e, s->label));
    return;
  }
  if (extended(e)) {
    copies = stackrecords(e, VMPROF_GCSTACK, 0, s->thread, s->count);
    if (objects_full(&e->objects))
      objects_write(&e->objects, 1, e->last, &e->of->before, &e->out);
    objects_add(&e->objects, s->kind, s->outside, copies);
  }
  else
    copies = stackrecords(e, VMPROF_STACK,
                          frameids_type(s->kind),
                          s->thread, s->count);
  e->of->undecided++;
  batch_sample(&e->batch, since(e, e->last), !extended(e), s->count, copies,
               labelled(e, s->label));
  batch_allocation(&e->batch, s->size, s->outside, extended(e) ? s->kind : -1);
}

void encoder_time (Encoder *e, const ProfileTime *s) {
  uint32_t copies;
  settime(e, s->time);
  copies = stackrecords(e, VMPROF_STACK, 0, s->thread, s->count);
  metaperiod(e);
  batch_sample(&e->batch, since(e, e->last), !extended(e), s->count, copies,
               labelled(e, s->label));
}

/* -------------------------------------------------------------- events -- */

/* Converts n class numbers of the current state to class numbers of the file. Returns a new array,
   or NULL if out of memory. */
static uint32_t *translated (Encoder *e, const uint32_t *classes, size_t n) {
  uint32_t *to = spare_malloc(n * sizeof(*to));
  size_t i;
  if (to == NULL) {
    e->failed = 1;
    return NULL;
  }
  for (i = 0; i < n; i++)
    to[i] = origin_number(&e->of->classes, classes[i]);
  return to;
}

/* Returns the current batch. In files of many states, first records in it that the next events
   belong to the current state. */
static Batch *lines (Encoder *e) {
  if (e->config.states)
    batch_of(&e->batch, e->of->id);
  return &e->batch;
}

void encoder_of (Encoder *e, uint32_t state, uint32_t thread) {
  Origin *of = origins_get(&e->origins, state);
  if (of == NULL)
    e->failed = 1;
  else
    e->of = of;
  if (e->config.states && thread != e->of->thread && thread != 0) {
    e->of->thread = thread;
    batch_thread(lines(e), thread);
  }
}

void encoder_start (Encoder *e, uint64_t time) {
  e->nstates++;
  batch_start(&e->batch, since(e, time), e->of->id);
}

void encoder_called (Encoder *e, const char *name, size_t n) {
  batch_called(lines(e), name, n);
}

void encoder_end (Encoder *e, uint64_t time, uint64_t bytes, uint64_t orphans) {
  e->allocated += bytes;
  batch_end(lines(e), since(e, time), bytes, orphans);
  encoder_leave(e);
}

void encoder_orphans (Encoder *e, uint64_t time, uint32_t state, const uint32_t *runs, size_t n) {
  batch_orphans(&e->batch, since(e, time), state, runs, n);
}

void encoder_leave (Encoder *e) {
  if (e->of == &e->spare) return;  /* not in e->origins */
  e->undecided += e->of->undecided;
  origins_drop(&e->origins, e->of);
  e->of = origins_get(&e->origins, 0);
  if (e->of == NULL) {
    e->failed = 1;
    e->of = &e->spare;
  }
}

void encoder_fates (Encoder *e, const unsigned char *survived,
                    const uint32_t *classes, size_t n) {
  uint32_t *own = NULL;
  if (n > e->of->undecided)
    n = (size_t)e->of->undecided;
  if (n == 0)
    return;
  e->of->undecided -= n;
  if (islocal(e) && classes != NULL)
    classes = own = translated(e, classes, n);
  batch_fates(lines(e), survived, classes, n);
  free(own);
  if (extended(e))
    objects_fates(&e->objects, survived, n);
}

void encoder_deaths (Encoder *e, const uint32_t *runs, size_t n) {
  batch_deaths(lines(e), runs, n);
}

void encoder_collection (Encoder *e, const ProfileCollection *c) {
  batch_collection(lines(e), since(e, c->time), c, labelled(e, c->label), &e->of->before);
  if (extended(e)) {
    objects_write(&e->objects, 0, c->time > e->last ? c->time : e->last, c,
                  &e->out);
    encoder_drain(e, ENOUGH);
  }
}

void encoder_period (Encoder *e, uint64_t period) {
  batch_period(lines(e), period);
}

void encoder_timeperiod (Encoder *e, uint64_t ns, int wall) {
  if (ns > 0 && !e->periodwritten)
    e->config.timeperiod = ns;
  batch_timeperiod(lines(e), ns, wall);
}

void encoder_class (Encoder *e, uint32_t id, const char *name, size_t n) {
  if (islocal(e)) {
    int isnew;
    id = origins_class(&e->origins, e->of, id, &name, &isnew);
    e->failed |= id == 0;
    if (!isnew)
      return;
    n = strlen(name);
  }
  batch_class(&e->batch, id, name, n);
}

void encoder_path (Encoder *e, uint64_t id, uint32_t parent, const char *step) {
  batch_path(lines(e), id, parent, step);
}

void encoder_holders (Encoder *e, const uint32_t *runs, size_t n) {
  batch_holders(lines(e), runs, n);
}

void encoder_walk (Encoder *e, uint64_t start, uint64_t ns) {
  batch_walk(lines(e), since(e, start), ns / 1000);
}

void encoder_mark (Encoder *e, uint64_t time, const char *name,
                   size_t namelength, const char *value, size_t valuelength) {
  batch_mark(lines(e), since(e, time), name, namelength, value, valuelength);
}

void encoder_resident (Encoder *e, uint64_t time, const char *what, size_t n, int64_t bytes,
                       const char *text, size_t m) {
  batch_resident(lines(e), since(e, time), what, n, bytes, text, m);
}

/* ------------------------------------------------------------- batches -- */

int encoder_full (const Encoder *e) {
  return batch_full(&e->batch);
}

void encoder_batch (Encoder *e) {
  Bytes text = {0};
  namefresh(e);
  if (batch_take(&e->batch, &text)) {
    if (text.failed)
      e->failed = 1;
    else {
      char key[32];
      sprintf(key, "asamp.%u", ++e->nbatch);
      vmprof_meta(&e->out, key, (const char *)text.data, text.n);
    }
  }
  bytes_free(&text);
  encoder_drain(e, 1);
}

void encoder_left (Encoder *e, const ProfileLeft *left, uint64_t texts) {
  e->left.chunks += left->chunks;
  e->left.functions += left->functions;
  e->left.classes += left->classes;
  e->left.natives += left->natives;
  e->left.paths += left->paths;
  e->left.steps += left->steps;
  e->left.labelnames += left->labelnames;
  e->left.labelvalues += left->labelvalues;
  e->left.labelsets += left->labelsets;
  e->left.before += left->before;
  e->texts = texts;
}

/* Writes the meta record "asamp.left": name and count of each limit that dropped data. */
static void metaleft (Encoder *e) {
  const struct { const char *key; uint64_t count; } all[] = {
    {"chunks", e->left.chunks}, {"functions", e->left.functions + e->origins.lumpedfunctions},
    {"classes", e->left.classes + e->origins.lumpedclasses}, {"texts", e->texts},
    {"natives", e->natives + e->left.natives},
    {"paths", e->left.paths}, {"steps", e->left.steps}, {"labelnames", e->left.labelnames},
    {"labelvalues", e->left.labelvalues}, {"labelsets", e->left.labelsets},
    {"before", e->left.before}
  };
  char text[440];
  size_t i, n = 0;
  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (all[i].count > 0)
      n += (size_t)sprintf(text + n, "%s%s %llu", n > 0 ? " " : "", all[i].key,
                           (unsigned long long)all[i].count);
  }
  if (n > 0)
    encoder_meta(e, "asamp.left", text);
}

void encoder_allocated (Encoder *e, uint64_t bytes) {
  e->allocated += bytes;
  if (e->config.states)
    batch_allocated(lines(e), bytes);
}

void encoder_labelled (Encoder *e, uint32_t set, uint64_t bytes) {
  uint32_t id = labelled(e, set);
  if (id != 0)
    batch_labelled(lines(e), id, bytes);
}

void encoder_notlabelled (Encoder *e) {
  e->notlabelled = 1;
}

void encoder_notallocated (Encoder *e) {
  e->notallocated = 1;
}

void encoder_ring (Encoder *e, uint64_t samples, uint64_t bytes, uint64_t ns, uint64_t wanted) {
  const uint64_t all[] = {samples, bytes, ns / 1000, wanted / 1000};
  char text[96];
  size_t i, n = 0;
  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
    n += (size_t)sprintf(text + n, "%s%llu", i > 0 ? " " : "", (unsigned long long)all[i]);
  encoder_meta(e, "asamp.ring", text);
}

void encoder_lost (Encoder *e, uint64_t n) {
  e->lost = n;
}

void encoder_finish (Encoder *e, uint64_t now) {
  uint64_t left = e->undecided;
  size_t i;
  for (i = 0; i < e->origins.n; i++)
    left += e->origins.list[i]->undecided;
  if (extended(e))
    objects_write(&e->objects, 1, now > e->last ? now : e->last,
                  &e->of->before, &e->out);
  encoder_batch(e);
  if (!e->periodwritten)
    e->config.timeperiod = 0;
  metaperiod(e);
  metanumber(e, "asamp.undecided", left);
  if (e->config.states)
    metanumber(e, "asamp.states", e->nstates);
  if (e->lost > 0)
    metanumber(e, "asamp.lost", e->lost);
  if (e->allocated > 0 && !e->notallocated)
    metanumber(e, "asamp.allocated", e->allocated);
  if (e->allocated > 0 && !e->notallocated && !e->notlabelled && e->nlabels > 0)
    encoder_meta(e, "asamp.labelled", "1");
  if (e->nlabels > 0 && e->config.labelsleft != NULL)
    e->config.labelsleft(&e->left, &e->texts);
  metaleft(e);
  vmprof_time(&e->out, VMPROF_TRAILER, e->epoch + since(e, now));
  encoder_drain(e, 1);
}
