/* SPDX-License-Identifier: MIT */
/*
** A fuzzer of the flight recorder (ring.h, past.h). Its inputs are random events of several Lua
** states; some contradict earlier events. At random times the recording is written to an encoder.
** There must be no crash, no leak, and no access out of bounds. If no event contradicts another,
** the reader must accept the log, the log must contain the samples that were marked as older than
** the recording, and the survivors in it must be dead exactly if they were reported dead (Fate).
**
**   rings SEED EVENTS [FOLDER]
**
** spec/fuzz/build compiles it with tiny limits (-DASAMP_TINY), so that a few events fill every
** table and overwrite every chunk of the ring. FOLDER (/dev/shm) is for a log that is read back
** (input.h).
*/
#define _GNU_SOURCE
#include "input.h"

#include "encoder.h"
#include "event.h"
#include "past.h"
#include "reader.h"
#include "readersum.h"
#include "ring.h"

#define STATES		4
/* largest number of frames of a stack */
#define DEEP		(READER_MAXDEPTH / 8 < 1500 ? READER_MAXDEPTH / 8 : 1500)
#define SECOND		UINT64_C(1000000000)
#define SAMPLES		4096	/* upper bound of the number of samples of a recording */

/*
** The data of a state that the generator needs to act as a sampler does. It must pass a stack as
** its difference to the previous one (P5, profile.h), emit a class before its first outcome (P6,
** profile.h), and follow the right survivors (PA1, past.h).
*/
typedef struct State {
  uint32_t id;
  int started;
  size_t depth, waiting, followed;
  uint32_t classes, paths;
  /* Numbers of the undecided samples and of the survivors, oldest first. */
  uint32_t undecided[SAMPLES], survivors[SAMPLES];
} State;

/* The state of each sample by number, according to the events. A sample's size is 8 times its
   number. ENDED: the Lua state has ended, so the sample is not compared. */
typedef enum Fate {UNDECIDED, ALIVE, DEAD, ENDED} Fate;

static Fate reported[SAMPLES];
static uint32_t nsamples;
/* The same according to the file that is read back. */
static Fate found[SAMPLES];

/* 1 if the reader's limits are so small that it accepts fewer stacks than a batch can have */
#if defined(ASAMP_TINY)
#define TINY	1
#else
#define TINY	0
#endif

static State states[STATES];
static uint32_t lastid;
static unsigned char body[1 << 16] __attribute__((aligned(16)));
static uint64_t now = SECOND;
static Ring *ring;
static int wild;	/* 1: events may contradict earlier events */

static void gather (void *ud, Bytes *out) {
  bytes_add(ud, out->data, out->n);
  out->n = 0;
}

static void resolve (void *ud, uint64_t address, char *symbol, size_t size, char *file,
                     size_t filesize) {
  (void)ud;
  snprintf(symbol, size, "s%llu", (unsigned long long)address % 40);
  snprintf(file, filesize, "lib");
}

static size_t labels (void *ud, uint32_t set, ProfileLabel *to) {
  (void)ud;
  to[0].name = "route";
  to[0].value = set % 2 ? "/a" : "/b";
  return set % 3 > 0;
}

/* {== events =========================================================== */

static void emit (const State *s, uint32_t type, uint64_t n, size_t size) {
  static uint64_t event[(sizeof(Event) + sizeof(body)) / 8];
  Event *e = (Event *)event;
  e->type = type;
  e->n = n;
  e->state = s->id;
  e->thread = (uint32_t)upto(3);
  e->size = (uint32_t)(sizeof(*e) + (size + 7) / 8 * 8);
  memset(e + 1, 0, e->size - sizeof(*e));
  memcpy(e + 1, body, size);
  if (upto(20) == 0) now += upto(2 * SECOND);  /* a later piece may start between any two events */
  ring_put(ring, e, now);
}

static size_t frames (State *s, uint64_t *shared, ProfileFrame *to) {
  size_t n = upto(40) == 0 ? upto(DEEP) : upto(8), i;
  *shared = wild && upto(50) == 0 ? upto(5000) : upto((s->depth < DEEP ? s->depth : DEEP) + 1);
  for (i = 0; i < n; i++) {
    to[i].id = upto(4) == 0 ? 81 + 16 * upto(30) : 8 * (1 + upto(60));
    to[i].line = (uint32_t)upto(9);
  }
  s->depth = (size_t)*shared + n;
  return n;
}

static void text (const State *s, uint32_t type, uint64_t n, size_t before, const char *what) {
  size_t k = (size_t)snprintf((char *)body + before, 64, "%s%llu", what, (unsigned long long)upto(50));
  emit(s, type, n, before + k + 1);
}

static void makestate (State *s) {
  memset(s, 0, sizeof(*s));
  s->id = wild && upto(20) == 0 ? (uint32_t)next() : lastid++;
  s->started = 1;
  emit(s, EVENT_START, now, 0);
  if (upto(2)) text(s, EVENT_CALLED, 0, 0, "script");
}

static void sample (State *s) {
  SampleEvent *e = (SampleEvent *)body;
  size_t n;
  memset(e, 0, sizeof(*e));
  n = frames(s, &e->shared, e->frames);
  e->sample.time = now;
  s->undecided[s->waiting++] = ++nsamples;
  e->sample.size = nsamples * UINT64_C(8);
  e->sample.thread = s->id;
  e->sample.count = 1 + upto(3);
  e->sample.kind = (int)upto(KIND_NATIVE + 1);
  e->sample.label = (uint32_t)upto(5);
  emit(s, EVENT_SAMPLE, n, sizeof(*e) + n * sizeof(ProfileFrame));
}

static void timesample (State *s, uint32_t type) {
  TimeEvent *e = (TimeEvent *)body;
  size_t n;
  memset(e, 0, sizeof(*e));
  n = frames(s, &e->shared, e->frames);
  e->sample.time = now;
  e->sample.count = 1;
  e->sample.thread = s->id;
  emit(s, type, n, sizeof(*e) + n * sizeof(ProfileFrame));
}

static void fates (State *s) {
  size_t n = s->waiting < 400 ? s->waiting : 400, i;
  uint32_t *classes = (uint32_t *)body;
  unsigned char *survived;
  int all = (int)upto(2);
  if (wild && upto(20) == 0) n = upto(400);
  survived = all ? body + n * sizeof(*classes) : body;
  for (i = 0; i < n; i++) {
    if (all) classes[i] = (uint32_t)upto(s->classes + 1);
    survived[i] = (unsigned char)upto(3);
    if (i >= s->waiting) continue;
    if (survived[i] == 1) s->survivors[s->followed++] = s->undecided[i];
    reported[s->undecided[i]] = survived[i] == 0 ? DEAD : ALIVE;
  }
  emit(s, all ? EVENT_CLASSFATES : EVENT_FATES, n, n * (all ? 5 : 1));
  if (n > s->waiting) n = s->waiting;
  s->waiting -= n;
  memmove(s->undecided, s->undecided + n, s->waiting * sizeof(*s->undecided));
}

static void deaths (State *s) {
  uint32_t *runs = (uint32_t *)body;
  size_t i, k, n, at = 0, to = 0, followed = s->followed;
  for (i = 0; i < 6; i++) {
    runs[i] = (uint32_t)upto(wild && upto(20) == 0 ? UINT32_MAX : (followed - at) / 2 + 1);
    n = runs[i] < followed - at ? runs[i] : followed - at;
    for (k = 0; k < n; k++, at++) {
      if (i % 2) reported[s->survivors[at]] = DEAD;
      else s->survivors[to++] = s->survivors[at];
    }
  }
  emit(s, EVENT_DEATHS, 6, 6 * sizeof(*runs));
  memmove(s->survivors + to, s->survivors + at, (followed - at) * sizeof(*s->survivors));
  s->followed = to + followed - at;
}

static void collection (State *s) {
  ProfileCollection *c = (ProfileCollection *)body;
  if (upto(3)) fates(s);
  if (upto(2)) deaths(s);
  memset(c, 0, sizeof(*c));
  c->time = now;
  c->duration = upto(1000000);
  c->inuse = upto(1u << 20);
  c->major = (int)upto(2);
  emit(s, EVENT_COLLECTION, 0, sizeof(*c));
}

static void holders (State *s) {
  uint32_t *words = (uint32_t *)body;
  size_t i;
  words[0] = (uint32_t)upto(2);
  for (i = 1; i < 7; i += 2) {
    words[i] = (uint32_t)upto(s->followed + 2);
    words[i + 1] = (uint32_t)upto(s->paths + (wild ? 3 : 1));
  }
  emit(s, EVENT_HOLDERS, 7, 7 * sizeof(*words));
}

static void mark (const State *s) {
  MarkEvent *m = (MarkEvent *)body;
  m->time = now;
  m->namelength = 4;
  m->valuelength = upto(20);
  memset(m->text, 'v', 24);
  emit(s, EVENT_MARK, 0, sizeof(*m) + 24);
}

static void resident (const State *s) {
  ResidentEvent *r = (ResidentEvent *)body;
  r->time = now;
  memcpy(r->text, "rss\0x", 6);
  emit(s, EVENT_RESIDENT, upto(1u << 20), sizeof(*r) + 6);
}

static void left (const State *s) {
  ProfileLeft *l = (ProfileLeft *)body;
  memset(l, 0, sizeof(*l));
  l->classes = upto(4);
  emit(s, EVENT_LEFT, upto(3), sizeof(*l));
}

static void walk (const State *s) {
  *(uint64_t *)body = now;
  emit(s, EVENT_WALK, upto(1000000), 8);
}

static void endstate (State *s) {
  EndEvent *e = (EndEvent *)body;
  size_t i;
  for (i = 0; i < s->waiting; i++) reported[s->undecided[i]] = ENDED;
  for (i = 0; i < s->followed; i++) reported[s->survivors[i]] = ENDED;
  e->time = now;
  e->orphans = upto(3);
  emit(s, EVENT_END, upto(1000000), sizeof(*e));
  s->started = 0;
}

/*
** Writes an event about native memory of a closed state ("orphans"). Its state has ended or never
** existed; if events may contradict others, it may be running.
*/
static void orphans (State *s) {
  OrphansEvent *o = (OrphansEvent *)body;
  size_t i, n = 2 * upto(4);
  State of = *s;
  o->time = now;
  for (i = 0; i < n; i++)
    o->runs[i] = (uint32_t)(wild && upto(9) == 0 ? UINT32_MAX : upto(4));
  if (upto(2))
    of.id -= (uint32_t)upto(of.id + 1);
  for (i = 0; i < STATES && !wild; i++)
    if (states[i].started && states[i].id == of.id) return;
  emit(&of, EVENT_ORPHANS, n, sizeof(*o) + n * sizeof(*o->runs));
}

static void event (State *s) {
  uint32_t parent;
  if (!s->started) {
    makestate(s);
    return;
  }
  switch (upto(24)) {
    case 0: case 1: text(s, EVENT_NAME, 8 * (1 + upto(60)), 0, "py:f:1:"); break;
    case 2: timesample(s, EVENT_TIME); break;
    case 3: timesample(s, EVENT_STACK); break;
    case 4: text(s, EVENT_CLASS, wild && upto(9) == 0 ? upto(40) : ++s->classes, 0, "Class"); break;
    case 5:
      parent = (uint32_t)upto(s->paths + 1);
      memcpy(body, &parent, sizeof(parent));
      text(s, EVENT_PATH, wild && upto(9) == 0 ? upto(40) : ++s->paths, sizeof(parent), "step");
      break;
    case 6: holders(s); break;
    case 7: emit(s, EVENT_PERIOD, 1 + upto(5000), 0); break;
    case 8: emit(s, upto(2) ? EVENT_CPUPERIOD : EVENT_WALLPERIOD, upto(3) * 1000000, 0); break;
    case 9: mark(s); break;
    case 10: upto(6) == 0 ? endstate(s) : orphans(s); break;
    case 14: upto(2) ? resident(s) : upto(2) ? left(s) : walk(s); break;
    case 11: case 12: case 13: collection(s); break;
    default: sample(s); break;
  }
}

/* }===================================================================== */

static void foundfate (void *ud, const ReadSample *s, int fate, uint64_t time) {
  const ReaderClient *client = ud;
  (void)time;
  if (fate == READER_SURVIVED && client->followed) found[s->size / 8] = ALIVE;
}

static void founddeath (void *ud, const ReadDeath *d) {
  (void)ud;
  if (found[d->sample->size / 8] != ALIVE) fail("a sample died twice, or did not survive first");
  found[d->sample->size / 8] = DEAD;
}

/* Compares the survivors in the file with the events. */
static void compare (void) {
  ReaderClient client = {0};
  ReadProfile *r;
  char why[256] = "";
  uint32_t i;
  memset(found, 0, sizeof(found));
  client.ud = &client;
  client.fate = foundfate;
  client.death = founddeath;
  r = reader_read(path, &client, why, sizeof(why));
  if (r == NULL) fail(why);
  for (i = 1; i <= nsamples; i++)
    if (found[i] != UNDECIDED && reported[i] != ENDED && found[i] != reported[i])
      fail(found[i] == ALIVE ? "a death is missing" : "a live sample is reported dead");
  readprofile_free(r);
}

static void readback (int fd, const Bytes *log, const RingTotals *totals) {
  ReaderSum sum;
  ReadProfile *r;
  char why[256] = "";
  if (log->n < MOST && upto(2)) {
    static unsigned char data[MOST];
    memcpy(data, log->data, log->n);
    put(fd, data, gzip(data, log->n));
  }
  else
    put(fd, log->data, log->n);
  if (!readersum_start(&sum, 20, READERSUM_EVER)) fail("memory");
  r = reader_read(path, &sum.client, why, sizeof(why));
  if (r == NULL) fail(why);
  readersum_finish(&sum, r);
  if (!wild && !TINY && !r->complete) fail(r->message);
  if (!wild && !TINY && r->samples < totals->samples) fail("samples from before are missing");
  readersum_free(&sum);
  readprofile_free(r);
  if (!wild && !TINY) compare();
}

static void dump (const EncoderConfig *config, int fd) {
  Bytes log = {0};
  RingTotals totals;
  uint64_t since = ring_since(ring, now);
  Encoder *e = encoder_new(config, since, 1, gather, &log);
  if (e == NULL) exit(2);
  ring_emit(ring, e, now, &totals);
  encoder_ring(e, totals.samples, totals.bytes, totals.ns, SECOND);
  encoder_finish(e, now);
  if (!wild && encoder_failed(e)) fail("the encoder has failed");
  if (ring_failed(ring) || log.failed) fail("memory");
  encoder_free(e);
  readback(fd, &log, &totals);
  bytes_free(&log);
}

int main (int argc, char **argv) {
  unsigned long long events;
  int fd = start("rings", "rings", argc, argv, &events);
  while (input < events) {
    const RingLimits limits = {upto(2) ? 20 * SECOND : 0, 1024 << upto(6)};
    EncoderConfig config = {0};
    size_t rounds = 1 + (size_t)upto(4000), i;
    config.format = PROFILE_STOCK;
    config.period = 512;
    config.mallocs = upto(2) ? 4096 : 0;
    config.followed = 100;
    config.states = 1;
    config.resolve = upto(2) ? resolve : NULL;
    config.labels = labels;
    wild = (int)upto(2);
    lastid = 0;
    memset(states, 0, sizeof(states));
    memset(reported, 0, sizeof(reported));
    nsamples = 0;
    ring = ring_new(&limits, &config, now);
    if (ring == NULL) return 2;
    for (i = 0; i < rounds && input < events; i++, input++) {
      event(&states[upto(STATES)]);
      now += upto(SECOND / 4);
      if (limits.most + (1u << 20) < ring_bytes(ring)) fail("more than its bytes");
      if (upto(500) == 0) dump(&config, fd);
    }
    dump(&config, fd);
    ring_free(ring);
  }
  return end(fd, events);
}
