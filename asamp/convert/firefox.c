/* SPDX-License-Identifier: MIT */
/* Stores the rows of a Firefox profile in temporary files (firefox.h). */
#include "firefox.h"
#include "decimal.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NOMEMORY[] = "not enough memory";

/* Returns the row counts of the samples with the tag 'tag'. Here a tag is a number that represents
   one Lua state or all states of one script (tags.h). */
static FirefoxRows *counts (Firefox *f, uint32_t tag) {
  return &f->byplace[f->tags.list[tag].group];
}

/* Returns the tag of the current event: a number that represents the event's Lua state or all
   states of its script (tags.h). Returns 0 and stops the reading if out of memory. */
static uint32_t whose (Firefox *f) {
  uint32_t tag = tags_at(&f->tags, &f->client, 0, 0);
  if (tag == TAGS_NONE)
    f->client.stop = NOMEMORY;
  return tag != TAGS_NONE ? tag : 0;
}

/* Stores a row of an allocation or, with negative 'bytes', of a death. 'time': us since the start;
   'leaf': index of the stack in f->leaves; 'tag': number that represents the Lua state or all
   states of its script (tags.h). */
static void row (Firefox *f, uint64_t time, size_t leaf, int64_t bytes,
                 uint64_t address, uint32_t tag) {
  if (time < f->last)
    time = f->last;
  spill_put(&f->time, (int64_t)(time - f->last));
  spill_put(&f->stack, (int64_t)leaf);
  spill_put(&f->weight, bytes);
  spill_put(&f->memory, (int64_t)address);
  spill_put(&f->whose, tag);
  f->last = time;
  f->rows++;
  counts(f, tag)->rows++;
}

/* Stores the deaths of the samples in 'deaths', and empties 'deaths'. The Firefox format represents
   freed memory by a second row with the same stack and a negative number of bytes. The samples'
   made-up addresses become free for new samples. */
static void firefox_settle (Firefox *f) {
  size_t i;
  for (i = 0; i < f->ndeaths; i++) {
    const FirefoxDeath *d = &f->deaths[i];
    row(f, f->deathtime, d->leaf, -(int64_t)d->bytes, d->address, d->tag);
    if (list_grow(&f->unused, f->nunused, &f->unusedsize, sizeof(*f->unused)))
      f->unused[f->nunused++] = d->address;
    else
      f->client.stop = NOMEMORY;
  }
  f->ndeaths = 0;
}

/* Adds to 'deaths' a sample whose block was found dead at 'time'. All samples in 'deaths' must have
   died at the same time. */
static void dies (Firefox *f, size_t leaf, uint64_t bytes, uint64_t address, uint64_t time) {
  FirefoxDeath *d;
  if (!list_grow(&f->deaths, f->ndeaths, &f->deathsize, sizeof(*f->deaths))) {
    f->client.stop = NOMEMORY;
    return;
  }
  d = &f->deaths[f->ndeaths++];
  d->leaf = leaf;
  d->tag = whose(f);
  d->bytes = bytes;
  d->address = address;
  f->deathtime = time;
}

/* Returns the index in 'leaves' of a sample's stack, kind and outcome; SITETABLE_NONE if out of
   memory. If the table is full, adds 'count' to the number of samples that the table leaves out. */
static size_t leafof (Firefox *f, const ReadSample *s, int fate, uint64_t count) {
  return sitetable_tagged(&f->leaves, s->node, s->kind * 3 + (uint32_t)fate,
                          f->bylabels ? s->labels : 0, count);
}

/* Stores the row of a sample with its outcome: died, survived or undecided. Stores the made-up
   address of the row in client.tag. The reader passes it to firefox_death as ReadDeath.tag. */
static void firefox_fate (void *ud, const ReadSample *s, int fate, uint64_t time) {
  Firefox *f = ud;
  uint64_t bytes = readsample_bytes(s), address;
  size_t leaf;
  if (bytes == 0)
    return;  /* only damaged files have samples of 0 bytes; these have no row */
  leaf = leafof(f, s, fate, s->count);
  if (leaf == SITETABLE_NONE) {
    f->client.stop = NOMEMORY;
    return;
  }
  if (f->ndeaths > 0 && (f->deathtime != time || s->time >= time))
    firefox_settle(f);
  /* The viewer pairs an allocation with its death by the address. Makes up an address for the
     sample: a free one, or the next larger number. */
  address = f->nunused > 0 ? f->unused[--f->nunused] : ++f->address;
  row(f, s->time, leaf, (int64_t)bytes, address, whose(f));
  f->client.tag = address;
  if (fate == READER_DIED)
    dies(f, leaf, bytes, address, time);
}

/* Adds to 'deaths' a sample whose block survived its first collection and has now died. */
static void firefox_death (void *ud, const ReadDeath *d) {
  Firefox *f = ud;
  const ReadSample *s = d->sample;
  size_t leaf;
  if (readsample_bytes(s) == 0)
    return;
  leaf = leafof(f, s, READER_SURVIVED, 0);
  if (leaf == SITETABLE_NONE) {
    f->client.stop = NOMEMORY;
    return;
  }
  if (f->ndeaths > 0 && f->deathtime != d->time)
    firefox_settle(f);
  dies(f, leaf, readsample_bytes(s), d->tag, d->time);
}

static void firefox_held (void *ud, const ReadSample *s, uint32_t path) {
  Firefox *f = ud;
  if (!sitetable_add(&f->held, s->node, path, s->count, readsample_bytes(s)))
    f->client.stop = NOMEMORY;
}

/* Stores the row of a time sample. */
static void firefox_sample (void *ud, const ReadSample *s) {
  Firefox *f = ud;
  uint32_t tag;
  size_t site;
  if (s->kind != READER_TIMESAMPLE)
    return;
  tag = whose(f);
  site = sitetable_tagged(&f->ticksites, s->node, s->kind, f->bylabels ? s->labels : 0, s->count);
  if (site == SITETABLE_NONE) {
    f->client.stop = NOMEMORY;
    return;
  }
  spill_put(&f->tick, (int64_t)(s->time - f->lasttick));
  spill_put(&f->tickstack, (int64_t)site);
  spill_put(&f->tickwhose, tag);
  counts(f, tag)->timerows++;
  spill_put(&f->tickweight, (int64_t)readsample_bytes(s));
  f->lasttick = s->time;
  f->timerows++;
}

/* Starts an entry of the temporary file f->event: stores the tag of the current event and counts
   the entry. */
static void event (Firefox *f) {
  uint32_t tag = whose(f);
  spill_put(&f->event, tag);
  f->events++;
  counts(f, tag)->events++;
}

/* Stores a collection in f->event: its tag (a number that represents its Lua state or all states of
   its script, tags.h), the number 1, which distinguishes collections from marks, and members of
   ReadCollection. */
static void firefox_collection (void *ud, const ReadCollection *c) {
  Firefox *f = ud;
  const uint64_t values[] = {
    1, c->time, c->duration, c->inuse, c->held, c->rss, c->tenured,
    c->decided, c->survived, c->minors + c->majors, (uint64_t)c->major,
    (uint64_t)c->state
  };
  size_t i;
  firefox_settle(f);
  event(f);
  for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
    spill_put(&f->event, (int64_t)values[i]);
  f->collections++;
}

/* Stores a mark of the program in f->event, as these values: the tag (number of a Lua state or
   script, tags.h), the number 0, the time, the lengths of name and value, and the bytes of both. */
static void firefox_mark (void *ud, const ReadMark *m) {
  Firefox *f = ud;
  event(f);
  spill_put(&f->event, 0);
  spill_put(&f->event, (int64_t)m->time);
  spill_put(&f->event, (int64_t)m->namelength);
  spill_put(&f->event, (int64_t)m->valuelength);
  spill_text(&f->event, m->name, m->namelength);
  spill_text(&f->event, m->value, m->valuelength);
}

/* Stores a mark for a heap walk, the search for references to sampled objects. */
static void firefox_walk (void *ud, const ReadWalk *w) {
  static const char name[] = "search for holders";
  char value[64];
  ReadMark m = {w->time, name, value, sizeof(name) - 1, 0};
  m.valuelength = (size_t)decimal_print(value, sizeof(value), "the program paused %.1f ms",
                                        (double)w->duration / 1000);
  firefox_mark(ud, &m);
}

static void firefox_head (void *ud, const ReadProfile *r) {
  ((Firefox *)ud)->tags.r = r;
}

void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left) {
  size_t i;
  firefox_settle(f);
  tags_finish(&f->tags, r, left);
  left[LEFT_SITES] = f->leaves.left + f->ticksites.left;
  left[LEFT_HELD] = f->held.left;
  for (i = 0; i < TAGS_GROUPS; i++) {
    FirefoxRows *of = &f->of[f->tags.groupof[i]];
    of->rows += f->byplace[i].rows;
    of->timerows += f->byplace[i].timerows;
    of->events += f->byplace[i].events;
  }
}

int firefox_has (const Firefox *f, uint32_t group) {
  const FirefoxRows *of = &f->of[group];
  return of->rows + of->timerows + of->events > 0 ||
         (group == 0 && f->rows + f->timerows + f->events == 0);
}

enum { SPILLS = 10 };

/* Stores pointers to all temporary files in 'all'. */
static void spillsof (Firefox *f, Spill *all[SPILLS]) {
  Spill *const list[SPILLS] = {&f->time, &f->stack, &f->weight, &f->memory, &f->whose,
                               &f->tick, &f->tickstack, &f->tickweight, &f->tickwhose,
                               &f->event};
  memcpy(all, list, sizeof(list));
}

const char *firefox_start (Firefox *f, const char *directory, int by) {
  Spill *spills[SPILLS];
  size_t i;
  memset(f, 0, sizeof(*f));
  f->client.ud = f;
  f->client.head = firefox_head;
  f->client.sample = firefox_sample;
  f->client.fate = firefox_fate;
  f->client.death = firefox_death;
  f->client.held = firefox_held;
  f->client.collection = firefox_collection;
  f->client.mark = firefox_mark;
  f->client.walk = firefox_walk;
  spillsof(f, spills);
  for (i = 0; i < SPILLS; i++)
    spills[i]->fd = -1;
  f->bylabels = by & TAGS_BYLABELS;
  if (!tags_init(&f->tags, by & ~(TAGS_BYLABELS | TAGS_BYTHREAD)))
    return NOMEMORY;
  for (i = 0; i < SPILLS; i++) {
    int error = spill_open(spills[i], directory);
    if (error != 0)
      return strerror(error);
  }
  return NULL;
}

int firefox_error (Firefox *f) {
  Spill *spills[SPILLS];
  int i, error = 0;
  spillsof(f, spills);
  for (i = 0; i < SPILLS && error == 0; i++)
    error = spills[i]->error;
  return error;
}

void firefox_free (Firefox *f) {
  Spill *spills[SPILLS];
  size_t i;
  spillsof(f, spills);
  for (i = 0; i < SPILLS; i++)
    spill_close(spills[i]);
  sitetable_free(&f->leaves);
  sitetable_free(&f->held);
  sitetable_free(&f->ticksites);
  tags_free(&f->tags);
  free(f->unused);
  free(f->deaths);
}
