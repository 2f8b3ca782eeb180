/* SPDX-License-Identifier: MIT */
/*
** The encoder of profiles. What it writes is described in
** doc/profile-format.md, its invariants in encoder.h.
**
** Memory: the output and the details of one batch (bounded by encoder_full),
** the native addresses seen (bounded by the program's code), and in the
** extended flavour a queue of objects whose fate is open (MAXOPEN).
*/
#include "encoder.h"
#include "idmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch ends at this many samples or bytes of details. */
#define BATCH_SAMPLES	16384
#define BATCH_BYTES	(512u * 1024)

/* Objects that wait for their collection; then the oldest count as dead. */
#define MAXOPEN		(1u << 20)

/* Bytes of output worth a call of the sink. */
#define ENOUGH		(64u * 1024)

#define NSTATS		4
#define MAXOBJECTS	(VMPROF_MAXWORDS - NSTATS)

/* An object that waits for its fate: word without the survived bit. */
typedef struct Open {
  uint32_t word;
  uint32_t copies;
} Open;

struct Encoder {
  Bytes out;
  EncoderSink sink;
  void *sinkud;
  ProfileConfig config;
  uint64_t start;       /* monotonic, ns */
  uint64_t epoch;       /* wall clock at start, us */
  uint64_t last;        /* time of the last stack, ns */
  int failed;
  unsigned batch;       /* number of the last batch written */
  /* details of the current batch, text */
  uint64_t samples;     /* events, a repeated one once */
  Bytes times, kinds, sizes, counts, outside, events;
  uint64_t sampletime;  /* us since start, base of the next difference */
  ProfileCollection before;  /* the collection before; time in us */
  uint64_t undecided;   /* samples (events) without a fate */
  /* extended: fates of the collection being told, then its objects */
  Open *open;
  size_t nopen, opensize;
  uint64_t early;       /* oldest ones that were given up, see MAXOPEN */
  Bytes fates;
  IdMap seen;           /* native addresses (only the keys count) */
  Bytes fresh;          /* those of them that have no name yet */
};

static int extended (const Encoder *e) {
  return e->config.format == PROFILE_EXTENDED;
}

const char *profile_kindname (int kind) {
  static const char *const names[KIND_COUNT] = {
    "table", "table array part", "table hash part", "string",
    "Lua closure", "C closure", "upvalue", "userdata",
    "coroutine", "stack", "proto", "buffer"
  };
  return names[kind];
}

/* --------------------------------------------------------------- head -- */

static void meta (Encoder *e, const char *key, const char *value) {
  vmprof_meta(&e->out, key, value, strlen(value));
}

static void metanumber (Encoder *e, const char *key, uint64_t n) {
  char text[24];
  sprintf(text, "%llu", (unsigned long long)n);
  meta(e, key, text);
}

/* Names that belong to no code. */
static void fixednames (Encoder *e) {
  char name[VMPROF_NAMELIMIT + 1];
  int i;
  for (i = 0; i < KIND_COUNT; i++) {
    if (extended(e)) {
      char key[32];
      sprintf(key, "__rtype_%d", i);
      meta(e, key, profile_kindname(i));
    }
    else {
      vmprof_nativename(name, profile_kindname(i), "");
      vmprof_name(&e->out, VMPROF_NATIVENAME,
                  (uint64_t)ENCODER_TYPEID + 2 * (uint64_t)i, name);
    }
  }
  vmprof_nativename(name, "[no function]", "");
  vmprof_name(&e->out, VMPROF_NATIVENAME, ENCODER_NOFRAME, name);
  vmprof_nativename(name, "[frames cut]", "");
  vmprof_name(&e->out, VMPROF_NATIVENAME, ENCODER_CUT, name);
}

static void head (Encoder *e) {
  static const char *const stats[NSTATS] = {
    "total_memory_used", "total_size_of_arenas", "VmRSS", "gc_state"
  };
  int i;
  int mode = VMPROF_LINES | (e->config.native ? VMPROF_NATIVE : 0);
  vmprof_start(&e->out, e->config.format, mode, "lua");
  vmprof_time(&e->out, VMPROF_TIME, e->epoch);
  meta(e, "os", "linux");
  meta(e, "bits", "64");
  meta(e, "period", "0.0");
  metanumber(e, "sample_allocated_bytes", e->config.period);
  if (e->config.command != NULL)
    meta(e, "argv", e->config.command);
  meta(e, "asamp.format", "1");
  metanumber(e, "asamp.start", e->start / 1000);
  metanumber(e, "asamp.random", (uint64_t)(e->config.random != 0));
  if (extended(e)) {
    char text[48];
    /* the time that the stacks' doubles count from; rounded down */
    sprintf(text, "%llu.%06llu", (unsigned long long)(e->start / 1000000000),
            (unsigned long long)(e->start / 1000 % 1000000));
    meta(e, "start_time_offset", text);
    for (i = 0; i < NSTATS; i++) {
      char key[32];
      sprintf(key, "gc_stats__%d", i);
      meta(e, key, stats[i]);
    }
  }
  fixednames(e);
}

Encoder *encoder_new (const ProfileConfig *config, uint64_t start,
                      uint64_t epoch, EncoderSink sink, void *ud) {
  Encoder *e = calloc(1, sizeof(*e));
  if (e == NULL)
    return NULL;
  e->config = *config;
  e->sink = sink;
  e->sinkud = ud;
  e->start = start;
  e->epoch = epoch;
  e->last = start;
  head(e);
  if (e->out.failed) {
    encoder_free(e);
    return NULL;
  }
  return e;
}

void encoder_free (Encoder *e) {
  bytes_free(&e->out);
  bytes_free(&e->times);
  bytes_free(&e->kinds);
  bytes_free(&e->sizes);
  bytes_free(&e->counts);
  bytes_free(&e->outside);
  bytes_free(&e->events);
  bytes_free(&e->fates);
  bytes_free(&e->fresh);
  free(e->open);
  idmap_free(&e->seen);
  free(e);
}

/* Between records: hands the output on when some has gathered. */
static void drain (Encoder *e, size_t enough) {
  if (e->out.n >= enough && e->out.n > 0)
    e->sink(e->sinkud, &e->out);
}

int encoder_failed (const Encoder *e) {
  return e->failed || e->out.failed || e->times.failed || e->kinds.failed ||
         e->sizes.failed || e->counts.failed || e->outside.failed ||
         e->events.failed || e->fates.failed || e->fresh.failed;
}

/* -------------------------------------------------------------- names -- */

void encoder_name (Encoder *e, uint64_t id, const char *name) {
  vmprof_name(&e->out, VMPROF_NAME, id, name);
}

/* A native frame: remembers that it wants a name. */
static void touch (Encoder *e, uint64_t id) {
  int isnew = 0;
  if (idmap_at(&e->seen, id, &isnew) == NULL)
    e->failed = 1;
  if (isnew)
    bytes_add(&e->fresh, &id, sizeof(id));
}

static void namefresh (Encoder *e) {
  size_t i;
  for (i = 0; i < e->fresh.n; i += sizeof(uint64_t)) {
    char symbol[512] = "", library[1024] = "";
    char name[VMPROF_NAMELIMIT + 1];
    uint64_t id, address;
    memcpy(&id, e->fresh.data + i, sizeof(id));
    address = id & ~(uint64_t)1;
    e->config.resolve(e->config.resolve_ud, address, symbol, sizeof(symbol),
                      library, sizeof(library));
    if (symbol[0] == '\0')
      sprintf(symbol, "<native symbol 0x%llx>", (unsigned long long)address);
    vmprof_nativename(name, symbol, library);
    vmprof_name(&e->out, VMPROF_NATIVENAME, id, name);
  }
  e->fresh.n = 0;
}

/* ------------------------------------------------------------- stacks -- */

static unsigned char *frame (unsigned char *to, uint64_t id, uint64_t line) {
  vmprof_putword(to, line);
  vmprof_putword(to + 8, id);
  return to + 16;
}

/* Copies of a record of 'length' bytes for a sample of that count. */
static uint32_t copiesof (uint64_t count, size_t length) {
  uint64_t most = ENCODER_COPYBYTES / length;
  return (uint32_t)(count < most ? count : most);
}

/*
** One stack record, as often as the sample counts or as is allowed; returns
** how often.
*/
static uint32_t stack (Encoder *e, const ProfileSample *s,
                       const ProfileFrame *frames, size_t n) {
  size_t from = e->out.n;
  uint32_t copies, i;
  size_t depth = (n == 0 ? 1 : n) + (size_t)!extended(e);
  size_t length, k;
  unsigned char *to;
  if (extended(e))
    vmprof_timed(&e->out, VMPROF_GCSTACK, (double)e->last / 1e9, 2 * depth);
  else
    vmprof_counted(&e->out, VMPROF_STACK, 2 * depth);
  to = bytes_grow(&e->out, 16 * depth + 8);
  if (to == NULL)
    return 1;
  if (!extended(e))
    to = frame(to, (uint64_t)ENCODER_TYPEID + 2 * (uint64_t)s->kind, 0);
  if (n == 0)
    to = frame(to, ENCODER_NOFRAME, 0);
  for (k = 0; k < n; k++) {
    uint64_t id = frames[k].id;
    if (id == 0 || id >> 63)  /* a reader would take it for a line */
      id = ENCODER_NOFRAME;
    to = frame(to, id, frames[k].line);
    if ((id & 1) && id > ENCODER_CUT && e->config.resolve != NULL)
      touch(e, id);
  }
  vmprof_putword(to, s->thread);
  length = e->out.n - from;
  copies = copiesof(s->count, length);
  if (copies > 1) {
    Bytes record = {0};
    bytes_add(&record, e->out.data + from, length);
    e->failed |= record.failed;
    for (i = 1; i < copies && !record.failed; i++) {
      bytes_add(&e->out, record.data, length);
      drain(e, ENOUGH);
    }
    bytes_free(&record);
  }
  drain(e, ENOUGH);
  return copies;
}

static void objects (Encoder *e, uint64_t time, size_t n);

/* Queues the sample's object until its collection. */
static void openobject (Encoder *e, const ProfileSample *s, uint32_t copies) {
  if (e->nopen == MAXOPEN) {
    e->early += MAXOPEN - e->fates.n;
    objects(e, e->last, e->nopen);
  }
  if (e->nopen == e->opensize) {
    size_t size = e->opensize == 0 ? 1024 : e->opensize * 2;
    Open *open = realloc(e->open, size * sizeof(*open));
    if (open == NULL) {
      e->failed = 1;
      return;
    }
    e->open = open;
    e->opensize = size;
  }
  e->open[e->nopen].word = (uint32_t)s->kind << 2 | (s->outside ? 2u : 0u);
  e->open[e->nopen++].copies = copies;
}

void encoder_sample (Encoder *e, const ProfileSample *s,
                     const ProfileFrame *frames, size_t n) {
  uint64_t us;
  uint32_t copies;
  if (s->time > e->last)
    e->last = s->time;
  copies = stack(e, s, frames, n);
  e->samples++;
  e->undecided++;
  us = (e->last - e->start) / 1000;
  if (extended(e)) {
    openobject(e, s, copies);
    bytes_char(&e->kinds, (char)('a' + s->kind));
  }
  else
    bytes_decimal(&e->times, ' ', us - e->sampletime);
  e->sampletime = us;
  bytes_decimal(&e->sizes, ' ', s->size);
  if (s->count != 1) {
    bytes_decimal(&e->counts, ' ', e->samples);
    bytes_decimal(&e->counts, ' ', s->count);
    bytes_decimal(&e->counts, ' ', copies);
  }
  if (s->outside)
    bytes_decimal(&e->outside, ' ', e->samples);
}

/* --------------------------------------------------------- collections -- */

/*
** Writes the n oldest open objects, with the fates that are known (dead for
** the others), in as many records as the limit demands, and drops them.
** Within a record the newest stands first, the stats last.
*/
static void objects (Encoder *e, uint64_t time, size_t n) {
  const ProfileCollection *c = &e->before;
  uint64_t words = 0;     /* of objects, still to be written */
  uint32_t copies = 0;    /* of object i, written so far */
  size_t i;
  if (n > e->nopen)
    n = e->nopen;
  if (time < e->last)
    time = e->last;
  for (i = 0; i < n; i++)
    words += e->open[i].copies;
  i = 0;
  while (words > 0) {
    size_t m = words < MAXOBJECTS ? (size_t)words : MAXOBJECTS;
    unsigned char *to;
    words -= m;
    vmprof_timed(&e->out, VMPROF_OBJECTS, (double)time / 1e9, m + NSTATS);
    to = bytes_grow(&e->out, 8 * m);
    if (to == NULL)
      break;
    while (m-- > 0) {
      uint32_t survived = i < e->fates.n ? e->fates.data[i] : 0;
      vmprof_putword(to + 8 * m, e->open[i].word | survived);
      if (++copies == e->open[i].copies) {
        copies = 0;
        i++;
      }
    }
    vmprof_word(&e->out, c->inuse);
    vmprof_word(&e->out, c->held);
    vmprof_word(&e->out, c->rss);
    vmprof_word(&e->out, c->major ? 3 : 0);  /* FINALIZING or SCANNING */
    drain(e, ENOUGH);
  }
  memmove(e->open, e->open + n, (e->nopen - n) * sizeof(*e->open));
  e->nopen -= n;
  e->fates.n = 0;
}

void encoder_fates (Encoder *e, const unsigned char *survived, size_t n) {
  size_t i = 0;
  int fate = 0;  /* runs alternate, the first are dead */
  if (n > e->undecided)
    n = (size_t)e->undecided;
  if (n == 0)
    return;
  e->undecided -= n;
  bytes_char(&e->events, 'f');
  while (i < n) {
    size_t from = i;
    while (i < n && (survived[i] != 0) == fate)
      i++;
    bytes_decimal(&e->events, ' ', i - from);
    fate = !fate;
  }
  bytes_char(&e->events, '\n');
  if (extended(e)) {
    for (i = 0; i < n; i++) {
      if (e->early > 0)
        e->early--;
      else
        bytes_char(&e->fates, survived[i] != 0);
    }
  }
}

void encoder_collection (Encoder *e, const ProfileCollection *c) {
  ProfileCollection now = *c;
  Bytes *b = &e->events;
  now.time = c->time > e->start ? (c->time - e->start) / 1000 : 0;
  bytes_char(b, c->major ? 'G' : 'g');
  bytes_signed(b, ' ', (int64_t)(now.time - e->before.time));
  bytes_signed(b, ' ', (int64_t)(now.inuse - e->before.inuse));
  bytes_signed(b, ' ', (int64_t)(now.held - e->before.held));
  bytes_signed(b, ' ', (int64_t)(now.rss - e->before.rss));
  if (c->minors + c->majors > 0) {
    bytes_decimal(b, ' ', c->minors);
    bytes_decimal(b, ' ', c->majors);
  }
  bytes_char(b, '\n');
  e->before = now;
  if (extended(e) && e->fates.n > 0)
    objects(e, c->time, e->fates.n);
}

void encoder_period (Encoder *e, uint64_t period) {
  bytes_char(&e->events, 'p');
  bytes_decimal(&e->events, ' ', e->samples);
  bytes_decimal(&e->events, ' ', period);
  bytes_char(&e->events, '\n');
}

/* ------------------------------------------------------------- batches -- */

int encoder_full (const Encoder *e) {
  return e->samples >= BATCH_SAMPLES || e->events.n >= BATCH_BYTES;
}

/* A line of details, unless there is nothing to tell; empties it. */
static void column (Bytes *value, char letter, Bytes *text) {
  if (text->n > 0) {
    bytes_char(value, letter);
    bytes_add(value, text->data, text->n);
    bytes_char(value, '\n');
    text->n = 0;
  }
}

void encoder_batch (Encoder *e) {
  Bytes value = {0};
  namefresh(e);
  if (e->samples == 0 && e->events.n == 0) {
    drain(e, 1);
    return;
  }
  bytes_char(&value, 'n');
  bytes_decimal(&value, ' ', e->samples);
  bytes_char(&value, '\n');
  column(&value, 't', &e->times);
  column(&value, 'k', &e->kinds);
  column(&value, 's', &e->sizes);
  column(&value, 'c', &e->counts);
  column(&value, 'o', &e->outside);
  bytes_add(&value, e->events.data, e->events.n);
  e->events.n = 0;
  e->samples = 0;
  if (value.failed)
    e->failed = 1;
  else {
    char key[32];
    sprintf(key, "asamp.%u", ++e->batch);
    vmprof_meta(&e->out, key, (const char *)value.data, value.n);
  }
  bytes_free(&value);
  drain(e, 1);
}

void encoder_finish (Encoder *e, uint64_t now) {
  uint64_t left = e->undecided;
  if (extended(e) && e->nopen > 0) {
    e->fates.n = 0;
    objects(e, now, e->nopen);
  }
  encoder_batch(e);
  metanumber(e, "asamp.undecided", left);
  vmprof_time(&e->out, VMPROF_TRAILER,
              e->epoch + (now > e->start ? (now - e->start) / 1000 : 0));
  drain(e, 1);
}
