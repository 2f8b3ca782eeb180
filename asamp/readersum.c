/* SPDX-License-Identifier: MIT */
/*
** What the records of a log add up to. See readersum.h; the meaning of the
** private metas is in doc/profile-format.md.
*/
#include "readersum.h"
#include "details.h"

#include <stdlib.h>
#include <string.h>

/* Type frames have the ids 1, 3, 5 ... (as encoder.h numbers them). */
#define TYPEFRAMES	60

int readersum_start (ReaderSum *s) {
  Reading *r;
  memset(s, 0, sizeof(*s));
  s->stat[0] = s->stat[1] = s->stat[2] = -1;
  s->r = r = calloc(1, sizeof(*r));
  if (r == NULL)
    return 0;
  r->textsize = 1024;
  r->text = calloc(r->textsize, 1);
  r->textn = 1;
  r->kinds = calloc(READER_MAXKINDS, sizeof(*r->kinds));
  r->nkinds = READER_FIRSTKIND;
  return r->text != NULL && r->kinds != NULL && tree_init(&r->tree);
}

void readersum_end (ReaderSum *s) {
  free(s->runs);
  idmap_free(&s->kinds);
  idmap_free(&s->types);
}

void reader_free (Reading *r) {
  tree_free(&r->tree);
  ledger_free(&r->ledger);
  idmap_free(&r->names);
  free(r->text);
  free(r->kinds);
  free(r->collections);
  free(r);
}

int readersum_failed (const ReaderSum *s) {
  return s->failed || s->r->ledger.failed;
}

static void note (Reading *r, const char *message) {
  if (r->message[0] == '\0')
    strncpy(r->message, message, sizeof(r->message) - 1);
}

/* --------------------------------------------------------------- names -- */

/* As idmap_at, but NULL for a new id in a map that is full (R2). */
static uint32_t *entry (ReaderSum *s, IdMap *m, uint64_t id, int *isnew) {
  uint32_t *value;
  if (m->n >= READER_MAXIDS)
    return (uint32_t *)idmap_find(m, id);
  value = idmap_at(m, id, isnew);
  if (value == NULL)
    s->failed = 1;
  return value;
}

/* Offset of a copy of the string; 0 ("") when there is no room for it. */
static uint32_t keep (ReaderSum *s, const char *text) {
  Reading *r = s->r;
  size_t n = strlen(text) + 1;
  if (r->textn + n > READER_MAXNAMES) {
    note(r, "names of more than 64 MiB: some are left out");
    return 0;
  }
  while (r->textsize - r->textn < n) {
    char *more = realloc(r->text, (size_t)r->textsize * 2);
    if (more == NULL) {
      s->failed = 1;
      return 0;
    }
    r->text = more;
    r->textsize *= 2;
  }
  memcpy(r->text + r->textn, text, n);
  r->textn += (uint32_t)n;
  return r->textn - (uint32_t)n;
}

/* Of two names of an id the larger one counts, as for the other readers. */
void readersum_name (ReaderSum *s, uint64_t id, const char *text) {
  int isnew = 0;
  uint32_t *name;
  if (id == 0)
    return;
  name = entry(s, &s->r->names, id, &isnew);
  if (name != NULL && (isnew || strcmp(text, s->r->text + *name) > 0))
    *name = keep(s, text);
}

/* The kind of a type as the file numbers it. */
static uint32_t kindof (ReaderSum *s, uint64_t type) {
  int isnew = 0;
  uint32_t *kind = entry(s, &s->kinds, type + 1, &isnew);
  if (kind == NULL)
    return READER_UNKNOWN;
  if (isnew && s->r->nkinds < READER_MAXKINDS) {
    s->r->kinds[s->r->nkinds].type = type;
    *kind = s->r->nkinds++;
  }
  return *kind;  /* READER_UNKNOWN beyond the limit */
}

int readersum_typeframe (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < TYPEFRAMES;
}

uint32_t readersum_frame (ReaderSum *s, uint32_t node, uint64_t id,
                          uint32_t line) {
  uint32_t child = tree_child(&s->r->tree, node, id, line);
  if (child == 0 && node != 0)
    s->failed = 1;
  return child;
}

/* ------------------------------------------------------------- samples -- */

/* Moves the runs that wait out of the way: their details will not come. */
static void giveup (ReaderSum *s) {
  for (; s->runfirst < s->nruns; s->runfirst++) {
    const Run *run = &s->runs[s->runfirst];
    ledger_open(&s->r->ledger, run->node, run->kind, run->copies, s->period);
    s->r->undetailed += run->copies;
  }
  s->runfirst = s->nruns = 0;
}

/* Own files: a stack that waits for its details. */
static void addrun (ReaderSum *s, uint32_t node, uint32_t kind) {
  Run *run = s->nruns > s->runfirst ? &s->runs[s->nruns - 1] : NULL;
  if (run != NULL && run->node == node && run->kind == kind) {
    run->copies++;
    return;
  }
  if (s->nruns == READERSUM_MAXRUNS)
    giveup(s);
  if (s->nruns == s->runsize) {
    size_t size = s->runsize == 0 ? 1024 : s->runsize * 2;
    Run *runs = realloc(s->runs, size * sizeof(*runs));
    if (runs == NULL) {
      s->failed = 1;
      return;
    }
    s->runs = runs;
    s->runsize = size;
  }
  s->runs[s->nruns].node = node;
  s->runs[s->nruns].kind = kind;
  s->runs[s->nruns++].copies = 1;
}

void readersum_stack (ReaderSum *s, uint32_t node, uint32_t kind, uint64_t us,
                      int allocation) {
  Reading *r = s->r;
  if (us > s->clock && us - s->clock > r->duration)
    r->duration = us - s->clock;
  if (!allocation) {
    r->timesamples++;
    ledger_add(&r->ledger, node, READER_TIMESAMPLE, 1, 0);
  }
  else if (r->own) {
    /* an extended file tells the kinds with the details */
    addrun(s, node, r->version < 7 ? kindof(s, kind) : READER_UNKNOWN);
  }
  else {
    r->samples++;
    ledger_open(&r->ledger, node, READER_UNKNOWN, 1, 1);
  }
}

/* --------------------------------------------------------- collections -- */

static void collection (ReaderSum *s, const ReadCollection *c) {
  Reading *r = s->r;
  if (c->major)
    r->majors++;
  else
    r->minors++;
  if (c->time > r->duration)
    r->duration = c->time;
  if (r->ncollections == READER_MAXCOLLECTIONS)
    return;
  if (r->ncollections == s->collectionsize) {
    size_t size = s->collectionsize == 0 ? 64 : s->collectionsize * 2;
    ReadCollection *list = realloc(r->collections, size * sizeof(*list));
    if (list == NULL) {
      s->failed = 1;
      return;
    }
    r->collections = list;
    s->collectionsize = size;
  }
  r->collections[r->ncollections++] = *c;
}

/*
** Other writers' object records. The statistics follow the objects; as the
** metas that name them may come at the file's end, the number of samples
** without an object tells where the objects end.
*/
void readersum_objects (ReaderSum *s, uint64_t us, const uint64_t *words,
                        size_t n) {
  Reading *r = s->r;
  ReadCollection c;
  size_t open = r->ledger.tail - r->ledger.head;
  size_t nobjects = s->nstats > 0 ? (n > s->nstats ? n - s->nstats : 0)
                                  : (n < open ? n : open);
  size_t i;
  if (r->own)
    return;  /* the details have it all */
  r->fates = 1;
  memset(&c, 0, sizeof(c));
  c.time = us > s->clock ? us - s->clock : 0;
  if (s->nstats > 0 && n >= s->nstats) {
    const uint64_t *stats = words + nobjects;
    c.inuse = s->stat[0] >= 0 ? stats[s->stat[0]] : 0;
    c.held = s->stat[1] >= 0 ? stats[s->stat[1]] : 0;
    c.rss = s->stat[2] >= 0 ? stats[s->stat[2]] : 0;
  }
  for (i = nobjects; i-- > 0; ) {  /* oldest first */
    int survived = (int)(words[i] & 1);
    uint64_t decided = ledger_decide(&r->ledger, (int)kindof(s, words[i] >> 2),
                                     survived);
    c.decided += decided;
    c.survived += survived ? decided : 0;
  }
  collection(s, &c);
}

/* ------------------------------------------------------------- details -- */

/* Alternating runs of fates, the first died. */
static void fates (ReaderSum *s, Fields *f) {
  uint64_t n;
  int survived = 0;
  s->r->fates = 1;
  while (details_number(f, &n)) {
    Ledger *l = &s->r->ledger;
    while (n > 0 && (l->head < l->tail || l->passed > 0)) {
      uint64_t decided = ledger_decide(l, -1, survived);
      s->decided += decided;
      s->survived += survived ? decided : 0;
      n--;
    }
    survived = !survived;
  }
}

static void owncollection (ReaderSum *s, Fields *f, int major) {
  int64_t d[4] = {0, 0, 0, 0};
  uint64_t minors = 0, majors = 0;
  ReadCollection *c = &s->before;
  int i;
  for (i = 0; i < 4 && details_signed(f, &d[i]); i++)
    ;
  if (details_number(f, &minors))
    details_number(f, &majors);
  s->r->minors += minors;
  s->r->majors += majors;
  c->time += (uint64_t)d[0];
  c->inuse += (uint64_t)d[1];
  c->held += (uint64_t)d[2];
  c->rss += (uint64_t)d[3];
  c->major = major;
  c->decided = s->decided;
  c->survived = s->survived;
  s->decided = s->survived = 0;
  collection(s, c);
}

/* The period lines of a batch: the next one, and the events after it. */
typedef struct Periods {
  Fields events;
  int more;            /* there is a next one */
  uint64_t at;         /* samples of the batch before it */
  uint64_t period;
} Periods;

static void nextperiod (Periods *p) {
  Fields line;
  int letter;
  while ((letter = details_event(&p->events, &line)) != 0) {
    if (letter == 'p' && details_number(&line, &p->at) &&
        details_number(&line, &p->period)) {
      p->more = 1;
      return;
    }
  }
  p->more = 0;
}

/* Sets the period as it was after 'sample' samples of the batch. */
static void advance (ReaderSum *s, Periods *p, uint64_t sample) {
  while (p->more && p->at <= sample) {
    s->period = p->period;
    s->r->periods++;
    nextperiod(p);
  }
}

/* One sample of the batch: takes its copies from the runs. */
static int ownsample (ReaderSum *s, Details *d, uint64_t count,
                      uint64_t copies) {
  Reading *r = s->r;
  ReadKind *kind;
  Run *run;
  uint64_t n;
  if (s->runfirst == s->nruns || s->runs[s->runfirst].copies < copies ||
      count < copies || copies == 0)
    return 0;
  run = &s->runs[s->runfirst];
  if (d->kinds.p < d->kinds.end)
    run->kind = kindof(s, (uint64_t)(unsigned char)(*d->kinds.p++ - 'a'));
  run->copies -= copies;
  if (run->copies == 0)
    s->runfirst++;
  r->samples += count;
  ledger_open(&r->ledger, run->node, run->kind, count, s->period);
  kind = &r->kinds[run->kind];
  kind->blocks++;
  if (details_number(&d->sizes, &n) && n > 0)
    kind->objects += (double)count * (double)s->period / (double)n;
  if (details_number(&d->times, &n))
    s->last += n;
  return 1;
}

/* The next triple of counts; sample 0 when there is none. */
static void nextcount (Fields *f, uint64_t triple[3]) {
  int i;
  for (i = 0; i < 3; i++) {
    if (!details_number(f, &triple[i]))
      triple[0] = 0;
  }
}

/* A whole batch; 0 when it does not fit its stacks. */
static int batch (ReaderSum *s, const char *text, size_t n) {
  Details d;
  Periods p;
  Fields line;
  uint64_t count[3] = {0, 0, 0};
  uint64_t i, outside = 0;
  int letter;
  if (!details_split(&d, text, n))
    return 0;
  p.events = d.events;
  nextperiod(&p);
  nextcount(&d.counts, count);
  if (!details_number(&d.outside, &outside))
    outside = 0;
  for (i = 1; i <= d.samples; i++) {
    int many = count[0] == i;
    size_t run = s->runfirst;
    advance(s, &p, i - 1);
    if (!ownsample(s, &d, many ? count[1] : 1, many ? count[2] : 1))
      return 0;
    if (many)
      nextcount(&d.counts, count);
    if (outside == i) {
      s->r->kinds[s->runs[run].kind].outside++;
      if (!details_number(&d.outside, &outside))
        outside = 0;
    }
  }
  giveup(s);
  advance(s, &p, d.samples);
  if (s->last > s->r->duration)
    s->r->duration = s->last;
  while ((letter = details_event(&d.events, &line)) != 0) {
    if (letter == 'f')
      fates(s, &line);
    else if (letter == 'g' || letter == 'G')
      owncollection(s, &line, letter == 'G');
  }
  return 1;
}

/* --------------------------------------------------------------- metas -- */

static int starts (const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static void statname (ReaderSum *s, const char *name) {
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

static void nametype (ReaderSum *s, uint64_t type, const char *name) {
  int isnew = 0;
  uint32_t *at = entry(s, &s->types, type + 1, &isnew);
  if (at != NULL && isnew)
    *at = keep(s, name + strspn(name, " "));
}

int readersum_meta (ReaderSum *s, const char *key, const char *value,
                    size_t n) {
  Reading *r = s->r;
  if (strcmp(key, "sample_allocated_bytes") == 0)
    r->period = s->period = strtoull(value, NULL, 10);
  else if (strcmp(key, "argv") == 0)
    r->command = keep(s, value);
  else if (strcmp(key, "start_time_offset") == 0)
    s->clock = (uint64_t)(strtod(value, NULL) * 1e6 + 0.5);
  else if (starts(key, "gc_stats__"))
    statname(s, value);
  else if (starts(key, "__rtype_"))
    nametype(s, strtoull(key + strlen("__rtype_"), NULL, 10), value);
  else if (strcmp(key, "asamp.format") == 0)
    r->own = strcmp(value, "1") == 0;
  else if (strcmp(key, "asamp.random") == 0)
    r->random = strcmp(value, "1") == 0;
  else if (r->own && starts(key, "asamp.") && key[6] >= '1' && key[6] <= '9')
    return batch(s, value, n);
  return 1;
}

/* -------------------------------------------------------------- finish -- */

/* The names of the kinds: metas in extended files, type frames in ours. */
static void namekinds (ReaderSum *s) {
  uint32_t i;
  for (i = READER_FIRSTKIND; i < s->r->nkinds; i++) {
    ReadKind *kind = &s->r->kinds[i];
    const uint32_t *name = idmap_find(&s->types, kind->type + 1);
    if (name == NULL && s->r->own) {
      name = idmap_find(&s->r->names, 2 * kind->type + 1);
      if (name != NULL) {  /* n:<type>:0:- */
        char text[READER_MAXNAME + 1];
        const char *from = s->r->text + *name;
        from += starts(from, "n:") ? 2 : 0;
        strcpy(text, from);
        text[strcspn(text, ":")] = '\0';
        kind->name = keep(s, text);
      }
    }
    else if (name != NULL)
      kind->name = *name;
  }
}

int readersum_finish (ReaderSum *s) {
  Reading *r = s->r;
  size_t i;
  giveup(s);
  ledger_settle(&r->ledger);
  r->samples += r->undetailed;
  if (!r->own) {
    for (i = 0; i < r->ledger.nsites; i++) {
      r->ledger.sites[i].bytes *= r->period;
      r->ledger.sites[i].survivedbytes *= r->period;
    }
  }
  if (r->ended > r->started)
    r->duration = r->ended - r->started;
  namekinds(s);
  if (r->tree.left > 0)
    note(r, "more than 2 Mi distinct stacks: frames are left out");
  return !readersum_failed(s);
}
