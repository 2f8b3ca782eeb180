/* SPDX-License-Identifier: MIT */
/* Totals of a profile (readersum.h). */
#include "readersum.h"
#include "list.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

static const char NOMEMORY[] = "not enough memory";

#define EXACT_MOST	((uint64_t)1 << 63)  /* limit of ReaderSum.labelled, bytes; prevents an
                                                overflow of this sum */

/* Returns the estimated number of blocks that a sample represents; 0 if the size of its block is
   unknown. */
static double objectsof (const ReadSample *s) {
  return s->size > 0 ? (double)readsample_bytes(s) / (double)s->size : 0;
}

/* Returns the estimated variance of a sample's bytes: count * period^2. */
static double squaresof (const ReadSample *s) {
  return (double)readsample_bytes(s) * (double)s->period;
}

/* Returns the totals of a label set; creates them if needed. If there is not enough memory, returns
   NULL and sets 'stop', which ends the reading. */
static LabelTotals *labelled (ReaderSum *s, uint32_t set) {
  if (!list_room(&s->labels, (size_t)set + 1, &s->labelsize, sizeof(*s->labels))) {
    s->client.stop = NOMEMORY;
    return NULL;
  }
  if (s->nlabels <= set) {
    memset(s->labels + s->nlabels, 0, (set + 1 - s->nlabels) * sizeof(*s->labels));
    s->nlabels = (size_t)set + 1;
  }
  return &s->labels[set];
}

/* Adds a sample to the totals of its label set. 'fate': READER_DIED, READER_SURVIVED or
   READER_UNDECIDED; unused for a time sample. */
static void countlabels (ReaderSum *s, const ReadSample *sample, int fate) {
  LabelTotals *l = labelled(s, sample->labels);
  uint64_t bytes = readsample_bytes(sample);
  if (l == NULL)
    return;
  if (sample->kind == READER_TIMESAMPLE) {
    l->timesamples += sample->count;
    l->ns += bytes;
    return;
  }
  l->samples += sample->count;
  l->bytes += bytes;
  if (fate == READER_SURVIVED)
    l->survivedbytes += bytes;
  else if (fate == READER_UNDECIDED)
    l->undecidedbytes += bytes;
}

/* Returns the index in 'table' of the site to which a sample belongs, or SITETABLE_NONE if out of
   memory. Also stores the index in client.tag. If the sample survives and dies later, the reader
   passes the index back as ReadDeath.tag. */
static size_t siteof (ReaderSum *s, const ReadSample *sample) {
  uint32_t tag = s->tags != NULL ? tags_at(s->tags, &s->client, sample->labels, sample->count)
                                 : 0;
  size_t at = tag == TAGS_NONE ? SITETABLE_NONE
              : sitetable_tagged(&s->table, sample->node, sample->kind, tag, sample->count);
  s->client.tag = at;
  return at;
}

/* Returns the number of binary digits of n; 0 if n is 0. */
static uint32_t digits (uint64_t n) {
  uint32_t k = 0;
  for (; n > 0; n >>= 1)
    k++;
  return k;
}

/* Returns the time from a sample's allocation to 'time', us. */
static uint64_t lifeof (const ReadSample *sample, uint64_t time) {
  return time > sample->time ? time - sample->time : 0;
}

/* Adds a sample that died at 'time' to the table 'times' (totals by lifetime). */
static void died (ReaderSum *s, const ReadSample *sample, uint64_t time) {
  size_t at = sitetable_at(&s->times, sample->kind, digits(lifeof(sample, time)), sample->count);
  if (at == SITETABLE_NONE) {
    s->client.stop = NOMEMORY;
    return;
  }
  s->times.sites[at].samples += sample->count;
  s->times.sites[at].bytes += readsample_bytes(sample);
  s->times.sites[at].objects += objectsof(sample);
}

/* Adds a sample to the totals of its site, kind, label set and slice of time. 'fate': READER_DIED,
   READER_SURVIVED or READER_UNDECIDED. 'time': time at which the fate was decided. For a time
   sample, 'fate' and 'time' are not used. */
static void readersum_count (ReaderSum *s, const ReadSample *sample, int fate, uint64_t time) {
  uint64_t bytes = readsample_bytes(sample);
  double objects = objectsof(sample);
  size_t at = siteof(s, sample);
  KindTotals *kind = &s->kinds[sample->kind];
  Site *site;
  if (at == SITETABLE_NONE) {
    s->client.stop = NOMEMORY;
    return;
  }
  site = &s->table.sites[at];
  site->samples += sample->count;
  countlabels(s, sample, fate);
  if (s->instant == READERSUM_EVER)
    bins_add(&s->bins, sample, fate);
  if (s->bins.failed)
    s->client.stop = NOMEMORY;
  if (sample->kind == READER_TIMESAMPLE) {
    site->ns += bytes;
    site->timesquares += (double)sample->count * (double)sample->count;
    site->nssquares += (double)bytes * (double)bytes;
    return;
  }
  kind->blocks++;
  kind->objects += objects;
  kind->outside += (uint64_t)sample->outside;
  site->bytes += bytes;
  site->bytesquares += squaresof(sample);
  site->objects += objects;
  if (fate != READER_DIED) {
    site->kept += objects;
    site->births += objects * (double)sample->time;
  }
  else {
    site->life += objects * (double)lifeof(sample, time);
    died(s, sample, time);
  }
  if (fate == READER_SURVIVED) {
    site->survived += sample->count;
    site->survivedbytes += bytes;
    site->survivedsquares += squaresof(sample);
  }
  else if (fate == READER_UNDECIDED) {
    site->undecided += sample->count;
    site->undecidedbytes += bytes;
  }
}

static void readersum_head (void *ud, const ReadProfile *r) {
  ReaderSum *s = ud;
  s->profile = r;
  if (s->tags != NULL)
    s->tags->r = r;
}

/* Returns 1 if the time is before 'since', or not before 'till'. */
static int istimeoutside (const ReaderSum *s, uint64_t time) {
  return time < s->since || time >= s->till;
}

static int isoutside (const ReaderSum *s, const ReadSample *sample) {
  return istimeoutside(s, sample->time);
}

/* Adds a time sample. Allocation samples are added later, by readersum_fate. */
static void readersum_sample (void *ud, const ReadSample *sample) {
  ReaderSum *s = ud;
  if (sample->kind != READER_TIMESAMPLE || s->instant != READERSUM_EVER || isoutside(s, sample))
    return;
  readersum_count(s, sample, READER_DIED, 0);
  bins_addat(&s->worked, sample, READER_DIED, sample->time, 0, 0);
  if (s->worked.failed)
    s->client.stop = NOMEMORY;
}

static void readersum_fate (void *ud, const ReadSample *sample, int fate, uint64_t time) {
  ReaderSum *s = ud;
  if (isoutside(s, sample))
    return;
  if (s->instant != READERSUM_EVER &&
      (sample->time > s->instant || (fate == READER_DIED && time <= s->instant)))
    return;
  readersum_count(s, sample, fate, time);
  if (s->instant == READERSUM_EVER && fate != READER_UNDECIDED)
    bins_addat(&s->born, sample, fate, sample->born, sample->node, sample->kind);
  if (s->born.failed)
    s->client.stop = NOMEMORY;
  if (fate != READER_UNDECIDED && s->instant == READERSUM_EVER && s->profile != NULL &&
      s->profile->own && s->profile->kinds[sample->kind].type != KIND_NATIVE &&
      !ages_add(&s->ages, readsample_bytes(sample), fate == READER_SURVIVED))
    s->client.stop = NOMEMORY;
}

/* Removes a survivor from the totals to which it was added, because it was dead at the time
   s->instant. 'site': its site in s->table. */
static void readersum_uncount (ReaderSum *s, Site *site, const ReadSample *sample) {
  uint64_t bytes = readsample_bytes(sample);
  KindTotals *kind = &s->kinds[sample->kind];
  if (sample->labels < s->nlabels) {
    s->labels[sample->labels].samples -= sample->count;
    s->labels[sample->labels].bytes -= bytes;
    s->labels[sample->labels].survivedbytes -= bytes;
  }
  kind->blocks--;
  kind->objects -= objectsof(sample);
  kind->outside -= (uint64_t)sample->outside;
  site->samples -= sample->count;
  site->bytes -= bytes;
  site->bytesquares -= squaresof(sample);
  site->objects -= objectsof(sample);
  site->kept -= objectsof(sample);
  site->births -= objectsof(sample) * (double)sample->time;
  site->survived -= sample->count;
  site->survivedbytes -= bytes;
  site->survivedsquares -= squaresof(sample);
}

static void readersum_death (void *ud, const ReadDeath *d) {
  ReaderSum *s = ud;
  const ReadSample *sample = d->sample;
  size_t at, life;
  if (isoutside(s, sample))
    return;
  if (s->instant != READERSUM_EVER && sample->time > s->instant)
    return;
  at = (size_t)d->tag;
  if (d->time <= s->instant && s->instant != READERSUM_EVER) {
    readersum_uncount(s, &s->table.sites[at], sample);
    return;
  }
  life = sitetable_at(&s->lives, sample->node, digits(d->allocated), sample->count);
  if (life == SITETABLE_NONE) {
    s->client.stop = NOMEMORY;
    return;
  }
  s->table.sites[at].later += sample->count;
  s->table.sites[at].laterbytes += readsample_bytes(sample);
  s->table.sites[at].latersquares += squaresof(sample);
  s->table.sites[at].kept -= objectsof(sample);
  s->table.sites[at].births -= objectsof(sample) * (double)sample->time;
  s->table.sites[at].life += objectsof(sample) * (double)lifeof(sample, d->time);
  died(s, sample, d->time);
  if (sample->labels < s->nlabels)
    s->labels[sample->labels].laterbytes += readsample_bytes(sample);
  s->lives.sites[life].samples += sample->count;
  s->lives.sites[life].bytes += readsample_bytes(sample);
  if (s->instant == READERSUM_EVER) {
    ReadSample dead = *sample;
    dead.time = d->time;
    bins_death(&s->bins, sample);
    bins_deathat(&s->born, sample, sample->born);
    bins_add(&s->gone, &dead, READER_DIED);
  }
  if (s->bins.failed || s->gone.failed || s->born.failed)
    s->client.stop = NOMEMORY;
}

static void readersum_held (void *ud, const ReadSample *sample, uint32_t path) {
  ReaderSum *s = ud;
  unsigned type = s->profile != NULL ? s->profile->kinds[sample->kind].type : KIND_COUNT;
  uint32_t isvector = type == KIND_TABLE_ARRAY || type == KIND_TABLE_HASH;
  if (isoutside(s, sample) || (s->instant != READERSUM_EVER && sample->time > s->instant))
    return;
  if (!sitetable_add(&s->held, sample->node, path, sample->count, readsample_bytes(sample)))
    s->client.stop = NOMEMORY;
  if (s->instant == READERSUM_EVER && type != KIND_NATIVE)  /* heap walks do not reach native
                                                               memory */
    bins_addat(&s->alive, sample, READER_SURVIVED, sample->born, sample->node,
               (s->client.unreached ? 0 : path << 1) | isvector);
  if (s->alive.failed)
    s->client.stop = NOMEMORY;
}

static void readersum_copy (void *ud, const ReadSample *sample) {
  ReaderSum *s = ud;
  if (s->instant == READERSUM_EVER && !isoutside(s, sample) &&
      !sitetable_add(&s->copies, sample->node, sample->kind, sample->count,
                     readsample_bytes(sample)))
    s->client.stop = NOMEMORY;
}

static void readersum_collection (void *ud, const ReadCollection *c) {
  ReaderSum *s = ud;
  LabelTotals *l = labelled(s, c->labels);
  if (!ages_settle(&s->ages, c->charged / (c->minors + 1)))
    s->client.stop = NOMEMORY;
  if (l != NULL && !istimeoutside(s, c->time)) {
    l->minors += c->minors + (uint64_t)!c->major;
    l->majors += c->majors + (uint64_t)c->major;
    l->pause += c->duration + c->left;
  }
  if (!course_add(&s->course, c))
    s->client.stop = NOMEMORY;
}

static void readersum_labelled (void *ud, uint32_t set, uint64_t bytes) {
  ReaderSum *s = ud;
  LabelTotals *l = labelled(s, set);
  if (l == NULL)
    return;
  if (bytes > EXACT_MOST - s->labelled)
    bytes = EXACT_MOST - s->labelled;  /* avoids an overflow; at this limit finishlabels sets
                                          'exactlabels' to 0 */
  l->exact += bytes;
  s->labelled += bytes;
}

static void readersum_mark (void *ud, const ReadMark *m) {
  ReaderSum *s = ud;
  if (!marks_add(&s->marks, m))
    s->client.stop = NOMEMORY;
}

static void readersum_resident (void *ud, const ReadResident *r) {
  ReaderSum *s = ud;
  if (!pictures_add(&s->pictures, r))
    s->client.stop = NOMEMORY;
}

/* Stores the first heap walk and every 'walkstep'-th after it. If 'walks' is full, drops every
   second one and doubles 'walkstep'. */
static void walked (void *ud, const ReadWalk *w) {
  ReaderSum *s = ud;
  size_t i;
  if (s->walkcount++ % s->walkstep != 0)
    return;
  if (s->nwalks == READERSUM_WALKS) {
    for (i = 0; i < READERSUM_WALKS / 2; i++)
      s->walks[i] = s->walks[2 * i];
    s->nwalks = i;
    s->walkstep *= 2;
    if ((s->walkcount - 1) % s->walkstep != 0)
      return;
  }
  s->walks[s->nwalks++] = *w;
}

int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant) {
  memset(s, 0, sizeof(*s));
  s->instant = instant;
  s->till = READERSUM_EVER;
  s->client.ud = s;
  s->client.head = readersum_head;
  s->client.sample = readersum_sample;
  s->client.fate = readersum_fate;
  s->client.death = readersum_death;
  s->client.held = readersum_held;
  s->client.copy = readersum_copy;
  s->client.collection = readersum_collection;
  s->client.mark = readersum_mark;
  s->client.resident = readersum_resident;
  s->client.labelled = readersum_labelled;
  s->client.walk = walked;
  s->walkstep = 1;
  bins_init(&s->bins, bins);
  bins_init(&s->gone, bins);
  bins_init(&s->born, bins > 0 ? READERSUM_PARTS : 0);
  bins_init(&s->alive, bins > 0 ? READERSUM_PARTS : 0);
  bins_init(&s->worked, bins > 0 ? READERSUM_FINE : 0);
  s->kinds = calloc(READER_MAXKINDS, sizeof(*s->kinds));
  return s->kinds != NULL && course_init(&s->course) && marks_init(&s->marks) &&
         pictures_init(&s->pictures);
}

/* Sets Site.time and Site.timesquares for a site of time samples. Their unit is the profile's first
   period of time samples. */
static void finishtime (Site *site, const ReadProfile *r) {
  double period = (double)r->timeperiod;
  site->time = (double)site->samples;
  if (r->timeperiods > 1 && period > 0) {
    site->time = (double)site->ns / period;
    site->timesquares = site->nssquares / (period * period);
  }
}

/* Sets 'exactlabels'. If it is 1, completes LabelTotals.exact: labels[0] receives the bytes without
   labels, and label sets that the client does not select receive 0. */
static void finishlabels (ReaderSum *s, const ReadProfile *r) {
  LabelTotals *none = labelled(s, 0);
  size_t i;
  s->exactlabels = none != NULL && r->labelled && r->nlabelsets > 0 && r->allocated < EXACT_MOST &&
                   s->labelled <= r->allocated && s->since == 0 && s->till == READERSUM_EVER &&
                   s->instant == READERSUM_EVER;
  if (!s->exactlabels)
    return;
  none->exact += r->allocated - s->labelled;
  for (i = 0; i < s->nlabels; i++) {  /* clears the label sets that the client does not select */
    if (i == 0 ? s->client.labelname != NULL && s->client.labelvalue != NULL
               : r->labelsets[i - 1].unwanted)
      s->labels[i].exact = 0;
  }
}

void readersum_finish (ReaderSum *s, const ReadProfile *r) {
  double squared = (double)r->scale * (double)r->scale;
  size_t i;
  for (i = 0; i < s->table.nsites; i++) {
    Site *site = &s->table.sites[i];
    if (site->kind == READER_TIMESAMPLE)
      finishtime(site, r);
    site->bytesquares *= squared;
    site->survivedsquares *= squared;
    site->latersquares *= squared;
    site->bytes *= r->scale;
    site->survivedbytes *= r->scale;
    site->laterbytes *= r->scale;
    site->undecidedbytes *= r->scale;
  }
  for (i = 0; i < s->times.nsites; i++)
    s->times.sites[i].bytes *= r->scale;
  s->born.width *= r->scale;
  s->alive.width *= r->scale;
  finishlabels(s, r);
  bins_finish(&s->bins, r->scale);
  bins_finish(&s->gone, r->scale);
  bins_finish(&s->born, r->scale);
  bins_finish(&s->alive, r->scale);
  bins_finish(&s->worked, r->scale);
  idmap_free(&s->table.bykey);  /* freed early, to reduce peak memory */
  idmap_free(&s->lives.bykey);
  idmap_free(&s->times.bykey);
  idmap_free(&s->held.bykey);
  idmap_free(&s->copies.bykey);
  idmap_free(&s->bins.bykey);
  idmap_free(&s->gone.bykey);
  idmap_free(&s->born.bykey);
  idmap_free(&s->alive.bykey);
  idmap_free(&s->worked.bykey);
  memcpy(s->left, r->left, sizeof(s->left));
  s->left[LEFT_SITES] = s->table.left + s->copies.left;
  s->left[LEFT_LIVES] = s->lives.left + s->times.left;
  s->left[LEFT_HELD] = s->held.left;
  s->left[LEFT_ROWS] = s->bins.left + s->gone.left + s->born.left + s->alive.left;
  s->left[LEFT_COLLECTIONS] = course_grouped(&s->course);
  s->left[LEFT_MARKS] = s->marks.count - s->marks.n;
  s->left[LEFT_MARKNAMES] = s->marks.lumped;
  s->left[LEFT_PICTURES] = s->pictures.count - s->pictures.n;
  if (s->tags != NULL)
    tags_finish(s->tags, r, s->left);
  s->left[LEFT_PICTUREROWS] = s->pictures.left + s->pictures.texts.left;
}

void readersum_free (ReaderSum *s) {
  sitetable_free(&s->table);
  sitetable_free(&s->lives);
  sitetable_free(&s->times);
  ages_free(&s->ages);
  sitetable_free(&s->held);
  sitetable_free(&s->copies);
  bins_free(&s->bins);
  bins_free(&s->gone);
  bins_free(&s->born);
  bins_free(&s->alive);
  bins_free(&s->worked);
  course_free(&s->course);
  marks_free(&s->marks);
  pictures_free(&s->pictures);
  free(s->labels);
  free(s->kinds);
}
