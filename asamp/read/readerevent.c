/* SPDX-License-Identifier: MIT */
/*
** From records to events: stacks, objects, fates, metas. See readerevent.h;
** the meaning of the private metas is in doc/profile-format.md.
*/
#include "details.h"
#include "list.h"
#include "readerevent.h"

#include <stdlib.h>
#include <string.h>

/* Type frames have the ids 1, 3, 5 ... 55 (as encoder.h numbers them). */
#define TYPEFRAMES	56

int readerevent_start (ReaderState *s, ReaderClient *client) {
  Reading *r;
  memset(s, 0, sizeof(*s));
  s->client = client;
  s->period = 1;
  s->stat[0] = s->stat[1] = s->stat[2] = -1;
  s->r = r = calloc(1, sizeof(*r));
  if (r == NULL)
    return 0;
  r->kinds = calloc(READER_MAXKINDS, sizeof(*r->kinds));
  r->nkinds = READER_FIRSTKIND;
  if (r->kinds == NULL || !strtab_init(&r->text, READER_MAXNAMES) ||
      !tree_init(&r->tree))
    return 0;
  s->unknown = strtab_put(&r->text, "[unknown]", 9);
  return s->unknown != 0;
}

void readerevent_end (ReaderState *s) {
  free(s->runs);
  fifo_free(&s->open);
  idmap_free(&s->kinds);
  idmap_free(&s->types);
  idmap_free(&s->classes);
  idmap_free(&s->byname);
  aliases_free(&s->aliases);
  readerfollow_free(&s->follow);
}

void reader_free (Reading *r) {
  tree_free(&r->tree);
  strtab_free(&r->text);
  idmap_free(&r->names);
  free(r->kinds);
  free(r->functions);
  free(r->fn);
  free(r);
}

const char *readerevent_failure (const ReaderState *s) {
  if (s->failed || s->r->text.failed)
    return "not enough memory";
  return s->client->stop;
}

uint32_t readerevent_kind (ReaderState *s, uint64_t type, uint64_t class) {
  Reading *r = s->r;
  uint64_t key = class != 0 ? (uint64_t)1 << 63 | class << 8 | type : type + 1;
  uint32_t kind = idmap_get(&s->kinds, key);
  if (kind != IDMAP_NONE)
    return kind;
  if (r->nkinds == READER_MAXKINDS) {
    if (class != 0) {
      r->left[LEFT_KINDS]++;
      return readerevent_kind(s, type, 0);
    }
    r->left[LEFT_TYPES]++;
    return READER_UNKNOWN;
  }
  if (!idmap_set(&s->kinds, key, r->nkinds)) {
    s->failed = 1;
    return READER_UNKNOWN;
  }
  r->kinds[r->nkinds].type = type;
  r->kinds[r->nkinds].class = (uint32_t)class;
  return r->nkinds++;
}

int readerevent_typeframe (uint64_t id, uint32_t *type) {
  *type = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < TYPEFRAMES;
}

/* -------------------------------------------------------------- events -- */

void readerevent_begin (ReaderState *s) {
  if (!s->begun && s->client->begin != NULL)
    s->client->begin(s->client->ud, s->r);
  s->begun = 1;
}

static void tellfate (ReaderState *s, const ReadSample *sample, int fate,
                      uint64_t time) {
  readerevent_begin(s);
  if (s->client->fate != NULL)
    s->client->fate(s->client->ud, sample, fate, time);
}

void readerevent_sample (ReaderState *s, const ReadSample *sample) {
  Reading *r = s->r;
  readerevent_begin(s);
  if (sample->time > r->duration)
    r->duration = sample->time;
  if (s->client->sample != NULL)
    s->client->sample(s->client->ud, sample);
  if (sample->kind == READER_TIMESAMPLE) {
    r->timesamples += sample->count;
    return;
  }
  r->samples += sample->count;
  if (s->open.n == FIFO_MOST) {
    ReadSample oldest;
    fifo_take(&s->open, &oldest);
    r->left[LEFT_OPEN] += oldest.count;
    tellfate(s, &oldest, READER_UNDECIDED, sample->time);
    s->open.passed++;
  }
  if (!fifo_put(&s->open, sample))
    s->failed = 1;
}

/* A sample survived; the client may leave a tag with it. */
static void survive (ReaderState *s, const ReadSample *sample, int follow,
                     uint64_t time) {
  int room = follow && readerfollow_room(&s->follow, &s->failed);
  s->survived += sample->count;
  s->r->left[LEFT_FOLLOWED] += follow && !room ? sample->count : 0;
  s->r->unfollowed += s->r->followed > 0 && !room ? sample->count : 0;
  s->client->followed = room;
  s->client->tag = 0;
  tellfate(s, sample, READER_SURVIVED, time);
  if (room) {
    ReadFollowed f;
    f.sample = *sample;
    f.born = s->allocated;
    f.tag = s->client->tag;
    readerfollow_add(&s->follow, &f);
  }
}

int readerevent_decide (ReaderState *s, int fate, uint64_t class,
                        uint64_t time) {
  ReadSample sample;
  if (s->open.passed > 0) {
    s->open.passed--;
    if (fate == 1 && s->r->followed > 0 &&
        readerfollow_room(&s->follow, &s->failed)) {  /* it keeps its place */
      ReadFollowed nothing;
      memset(&nothing, 0, sizeof(nothing));
      readerfollow_add(&s->follow, &nothing);
    }
    return 1;
  }
  if (!fifo_take(&s->open, &sample))
    return 0;
  if (class != 0)
    sample.kind = readerevent_kind(s, s->r->kinds[sample.kind].type, class);
  if (time < sample.time)
    time = sample.time;
  s->decided += sample.count;
  s->allocated += reader_bytes(&sample);
  if (fate == 0)
    tellfate(s, &sample, READER_DIED, time);
  else
    survive(s, &sample, fate == 1 && s->r->followed > 0, time);
  return 1;
}

void readerevent_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
                         uint64_t time) {
  ReadFollowed f;
  readerfollow_stay(&s->follow, alive);
  while (dead-- > 0 && readerfollow_die(&s->follow, &f)) {
    ReadDeath d;
    d.sample = &f.sample;
    d.time = time > f.sample.time ? time : f.sample.time;
    d.allocated = s->allocated - f.born;
    d.tag = f.tag;
    d.place = s->follow.at - 1;
    if (s->client->death != NULL && f.sample.count > 0)
      s->client->death(s->client->ud, &d);
  }
}

void readerevent_collection (ReaderState *s, const ReadCollection *c) {
  Reading *r = s->r;
  ReadCollection told = *c;
  readerevent_begin(s);
  r->minors += c->minors + (uint64_t)!c->major;
  r->majors += c->majors + (uint64_t)c->major;
  if (c->time > r->duration)
    r->duration = c->time;
  readerfollow_settle(&s->follow);
  told.decided = s->decided;
  told.survived = s->survived;
  s->decided = s->survived = 0;
  if (s->client->collection != NULL)
    s->client->collection(s->client->ud, &told);
}

/* -------------------------------------------------------------- stacks -- */

/* us since the start; never earlier than the sample before. */
static uint64_t timeof (ReaderState *s, double seconds) {
  const Reading *r = s->r;
  uint64_t us = 0;
  if (seconds > 0 && seconds < (double)READEREVENT_MAXTIME / 1e6)
    us = (uint64_t)(seconds * 1e6 + 0.5);
  us = us > r->clock ? us - r->clock : 0;
  return us > s->last ? us : s->last;
}

void readerevent_giveup (ReaderState *s) {
  for (; s->runfirst < s->nruns; s->runfirst++) {
    const Run *run = &s->runs[s->runfirst];
    ReadSample sample;
    memset(&sample, 0, sizeof(sample));
    sample.time = run->time > s->last ? run->time : s->last;
    sample.count = run->copies;
    sample.thread = run->thread;
    sample.node = run->node;
    sample.kind = READER_TIMESAMPLE;
    sample.period = s->timeperiod;
    if (run->type != READEREVENT_TIME) {
      sample.kind = run->type == 0 && s->r->version >= 7
                    ? READER_UNKNOWN : readerevent_kind(s, run->type, 0);
      sample.period = s->period;
    }
    s->last = sample.time;
    s->r->undetailed += run->copies;
    readerevent_sample(s, &sample);
  }
  s->runfirst = s->nruns = 0;
}

/* Own files: a stack that waits for its details. */
static void addrun (ReaderState *s, const Run *new) {
  Run *run = s->nruns > s->runfirst ? &s->runs[s->nruns - 1] : NULL;
  if (run != NULL && run->node == new->node && run->type == new->type &&
      run->time == new->time && run->thread == new->thread) {
    run->copies++;
    return;
  }
  if (s->nruns == READER_MAXRUNS) {
    size_t i;
    for (i = s->runfirst; i < s->nruns; i++)
      s->r->left[LEFT_RUNS] += s->runs[i].copies;
    readerevent_giveup(s);
  }
  if (list_grow(&s->runs, s->nruns, &s->runsize, sizeof(*s->runs)))
    s->runs[s->nruns++] = *new;
  else
    s->failed = 1;
}

/* A sample of another writer is delivered at once. */
static void foreign (ReaderState *s, uint32_t node, uint64_t thread,
                     double seconds, int allocation) {
  Reading *r = s->r;
  ReadSample sample;
  uint64_t us = r->timeperiod / 1000;
  memset(&sample, 0, sizeof(sample));
  r->timed = r->version >= 7;
  if (r->timed)
    s->last = timeof(s, seconds);
  else if (r->samples + r->timesamples > 0 && s->last < READEREVENT_MAXTIME)
    s->last += us > 0 ? us : 1000;
  sample.time = s->last;
  sample.count = 1;
  sample.thread = thread;
  sample.node = node;
  sample.kind = allocation ? READER_UNKNOWN : READER_TIMESAMPLE;
  sample.period = allocation ? 1 : r->timeperiod;
  readerevent_sample(s, &sample);
}

void readerevent_stack (ReaderState *s, uint32_t node, uint32_t type,
                        double seconds, uint64_t thread, int allocation) {
  if (s->r->own) {
    Run run;
    run.node = node;
    run.type = allocation ? type : READEREVENT_TIME;
    run.time = s->r->version >= 7 ? timeof(s, seconds) : 0;
    run.thread = thread;
    run.copies = 1;
    addrun(s, &run);
  }
  else
    foreign(s, node, thread, seconds, allocation);
}

/* ------------------------------------------------------------- objects -- */

static uint64_t wordat (const unsigned char *words, size_t i) {
  uint64_t w = 0;
  int k;
  for (k = 7; k >= 0; k--)
    w = w << 8 | words[8 * i + (size_t)k];
  return w;
}

static uint64_t statat (const ReaderState *s, const unsigned char *words,
                        size_t first, int which) {
  return s->stat[which] >= 0 ? wordat(words, first + (size_t)s->stat[which])
                             : 0;
}

/*
** Other writers' object records. The statistics follow the objects; as the
** metas that name them may come at the file's end, the number of samples
** without an object tells where the objects end.
*/
void readerevent_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n) {
  Reading *r = s->r;
  ReadCollection c;
  size_t open = s->open.n + s->open.passed;
  size_t nobjects = s->nstats > 0 ? (n > s->nstats ? n - s->nstats : 0)
                                  : (n < open ? n : open);
  size_t i;
  if (r->own)
    return;  /* the details have it all */
  r->fates = 1;
  memset(&c, 0, sizeof(c));
  c.time = timeof(s, seconds);
  if (s->nstats > 0 && n >= s->nstats) {
    c.inuse = statat(s, words, nobjects, 0);
    c.held = statat(s, words, nobjects, 1);
    c.rss = statat(s, words, nobjects, 2);
  }
  for (i = nobjects; i-- > 0; ) {  /* oldest first */
    uint64_t w = wordat(words, i);
    if (s->open.passed == 0 && s->open.n > 0) {
      uint32_t kind = readerevent_kind(s, w >> 2, 0);
      ReadSample *oldest = fifo_oldest(&s->open);
      oldest->kind = kind;
      oldest->outside = (w & 2) != 0;
    }
    readerevent_decide(s, (int)(w & 1), 0, c.time);
  }
  readerevent_collection(s, &c);
}

/* --------------------------------------------------------------- metas -- */

static int starts (const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static void statname (ReaderState *s, const char *name) {
  static const char *const known[3] = {
    "total_memory_used", "total_size_of_arenas", "VmRSS"
  };
  int i;
  for (i = 0; i < 3; i++) {
    if (strcmp(name, known[i]) == 0)
      s->stat[i] = (int)s->nstats;
  }
  s->nstats++;
}

static void nametype (ReaderState *s, uint64_t type, const char *name) {
  name += strspn(name, " ");
  readername_set(s, &s->types, type + 1, name, strlen(name));
}

/* Seconds as text, as us. */
static uint64_t microseconds (const char *value) {
  double us = strtod(value, NULL) * 1e6 + 0.5;
  return us > 0 && us < (double)READEREVENT_MAXTIME ? (uint64_t)us : 0;
}

static void ownfile (ReaderState *s, int format) {
  s->format = format;
  s->r->own = s->r->timed = 1;
  s->r->scale = 1;
  s->period = s->r->period;
  s->timeperiod = s->r->timeperiod;
}

int readerevent_meta (ReaderState *s, const char *key, const char *value,
                      size_t n) {
  Reading *r = s->r;
  if (strcmp(key, "sample_allocated_bytes") == 0) {
    r->period = strtoull(value, NULL, 10);
    if (r->own)
      s->period = r->period;
  }
  else if (strcmp(key, "period") == 0) {
    uint64_t ns = microseconds(value) * 1000;
    if (r->timeperiod == 0 && ns > 0)
      s->timeperiod = r->timeperiod = ns;
  }
  else if (strcmp(key, "argv") == 0)
    r->command = strtab_put(&r->text, value, n);
  else if (strcmp(key, "start_time_offset") == 0)
    r->clock = microseconds(value);
  else if (strcmp(key, "asamp.start") == 0)
    r->clock = strtoull(value, NULL, 10);
  else if (starts(key, "gc_stats__"))
    statname(s, value);
  else if (starts(key, "__rtype_"))
    nametype(s, strtoull(key + strlen("__rtype_"), NULL, 10), value);
  else if (strcmp(key, "asamp.format") == 0) {
    int format = details_format(value, n);
    if (format != 0)
      ownfile(s, format);
  }
  else if (strcmp(key, "asamp.lost") == 0)
    r->lost = strtoull(value, NULL, 10);
  else if (strcmp(key, "asamp.pid") == 0)
    r->pid = strtoull(value, NULL, 10);
  else if (strcmp(key, "asamp.followed") == 0)
    r->followed = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.allocated") == 0)
    r->allocated = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.left") == 0) {
    if (r->own)
      readerleft_told(r->left, value);
  }
  else if (strcmp(key, "asamp.random") == 0)
    r->random = strcmp(value, "1") == 0;
  else if (r->own && starts(key, "asamp.") && key[6] >= '1' && key[6] <= '9')
    return readerbatch_read(s, value, n);
  return 1;
}

/* -------------------------------------------------------------- finish -- */

const char *readerevent_finish (ReaderState *s) {
  Reading *r = s->r;
  ReadSample sample;
  readerevent_begin(s);
  readerevent_giveup(s);
  while (fifo_take(&s->open, &sample))
    tellfate(s, &sample, READER_UNDECIDED, s->last);
  if (!r->own)
    r->scale = r->period > 0 ? r->period : 1;
  if (r->ended > r->started &&
      (!r->timed || r->ended - r->started > r->duration))
    r->duration = r->ended - r->started;
  if (!readername_finish(s))
    return "not enough memory";
  r->left[LEFT_NODES] = r->tree.left;
  r->left[LEFT_NAMES] = r->text.left;
  r->left[LEFT_ALIASES] = s->aliases.left;
  return readerevent_failure(s);
}
