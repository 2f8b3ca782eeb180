/* SPDX-License-Identifier: MIT */
/* Delivers events to the client (readeremit.h). */
#include "readeremit.h"
#include "readerlabels.h"

#include <string.h>

void readeremit_head (ReaderState *s) {
  if (!s->hashead && s->client->head != NULL)
    s->client->head(s->client->ud, s->r);
  s->hashead = 1;
}

/* Returns 1 if the client does not select the current Lua state or this label set. */
static int ishidden (const ReaderState *s, uint32_t labels) {
  return s->of->hidden || readerlabels_unwanted(s, labels);
}

static int ishiddensample (const ReaderState *s, const ReadSample *sample) {
  return ishidden(s, sample->labels) || readerstate_isexcluded(s, sample);
}

static int ishiddencollection (const ReaderState *s, const ReadCollection *c) {
  return ishidden(s, c->labels) || readerstate_isoutside(s, c->time) || s->client->without != NULL;
}

/* Calls the client's callback 'fate' with the survival of a sample, which was decided at 'time', if
   the client selects the sample. */
static void emitfate (ReaderState *s, const ReadSample *sample, int fate, uint64_t time) {
  readeremit_head(s);
  readerstate_toclient(s);
  if (s->client->fate != NULL && !ishiddensample(s, sample))
    s->client->fate(s->client->ud, sample, fate, time);
}

/* Adds a sample to the sums in the ReadState of its Lua state and the ReadThread of its thread. */
static void sumstate (ReaderState *s, const ReadSample *sample) {
  ReadState *state = readerstate_row(s);
  ReadThread *thread = readerstate_threadrow(s);
  uint64_t n = readsample_bytes(sample);
  int istime = sample->kind == READER_TIMESAMPLE;
  if (state != NULL) {
    *(istime ? &state->timesamples : &state->samples) += sample->count;
    *(istime ? &state->ns : &state->bytes) += n;
  }
  if (thread != NULL) {
    *(istime ? &thread->timesamples : &thread->samples) += sample->count;
    *(istime ? &thread->ns : &thread->bytes) += n;
  }
}

/* Adds the bytes or ns of a sample to *all, or sets 'toomuch' if the sum would exceed
   READER_MAXSUM. */
static void sum (ReaderState *s, uint64_t *all, const ReadSample *sample) {
  uint64_t n = readsample_bytes(sample);
  if (n > READER_MAXSUM - *all)
    s->toomuch = 1;
  else
    *all += n;
}

void readeremit_sample (ReaderState *s, const ReadSample *sample) {
  ReadProfile *r = s->r;
  int hidden = ishiddensample(s, sample);
  uint64_t shown = hidden ? 0 : sample->count;
  sum(s, &s->summed[sample->kind == READER_TIMESAMPLE], sample);
  readeremit_head(s);
  if (sample->time > r->duration)
    r->duration = sample->time;
  readerstate_toclient(s);
  if (s->client->sample != NULL && !hidden)
    s->client->sample(s->client->ud, sample);
  if (r->many)
    sumstate(s, sample);
  if (sample->kind == READER_TIMESAMPLE) {
    r->timesamples += shown;
    return;
  }
  r->samples += shown;
  if (s->of->blind) {
    r->left[LEFT_STREAMS] += sample->count;
    emitfate(s, sample, READER_UNDECIDED, sample->time);
    return;
  }
  if (s->of->open.n == FIFO_MOST) {
    ReadSample oldest;
    fifo_take(&s->of->open, &oldest);
    r->left[LEFT_OPEN] += oldest.count;
    emitfate(s, &oldest, READER_UNDECIDED, sample->time);
    s->of->open.passed++;
  }
  if (!fifo_put(&s->of->open, sample))
    s->failed = 1;
}

void readeremit_copy (ReaderState *s, const ReadSample *sample) {
  sum(s, &s->summed[0], sample);
  readeremit_head(s);
  if (sample->time > s->r->duration)
    s->r->duration = sample->time;
  if (ishiddensample(s, sample))
    return;
  readerstate_toclient(s);
  if (s->client->copy != NULL)
    s->client->copy(s->client->ud, sample);
}

/* Delivers that a sample has survived. 'follow' 1: the file may record its death, so adds the
   sample and the client's tag to the list of live survivors, unless the list is full. */
static void survive (ReaderState *s, const ReadSample *sample, int follow, uint64_t time) {
  int room = follow && readerfollow_room(&s->of->follow, &s->failed);
  ReadState *row = s->r->many ? readerstate_row(s) : NULL;
  s->of->survived += sample->count;
  if (row != NULL)
    row->survivedbytes += readsample_bytes(sample);
  if (s->r->followed > 0 && !room && !ishiddensample(s, sample)) {
    s->r->unfollowed += sample->count;
    s->r->left[follow ? LEFT_FOLLOWED : LEFT_UNFOLLOWED] += sample->count;
  }
  s->client->followed = room;
  s->client->tag = 0;
  emitfate(s, sample, READER_SURVIVED, time);
  if (room) {
    ReadFollowed f;
    f.sample = *sample;
    f.born = s->of->allocated;
    f.tag = s->client->tag;
    readerfollow_add(&s->of->follow, &f, sample->kind >= READER_FIRSTKIND &&
                     s->r->kinds[sample->kind].type == KIND_NATIVE);
  }
}

int readeremit_decide (ReaderState *s, int fate, uint64_t class, uint64_t time) {
  ReadSample sample;
  if (s->of->blind)
    return 0;
  if (s->of->open.passed > 0) {
    s->of->open.passed--;
    if (fate == 1 && s->r->followed > 0 && readerfollow_room(&s->of->follow, &s->failed)) {
      ReadFollowed nothing;
      /* The reader has dropped this sample from its full queue. Its entry in the list of survivors
         is empty, but needed, because the file identifies survivors by their positions in the
         list. */

      memset(&nothing, 0, sizeof(nothing));
      readerfollow_add(&s->of->follow, &nothing, 0);
    }
    return 1;
  }
  if (!fifo_take(&s->of->open, &sample))
    return 0;
  if (class != 0)
    sample.kind = readerstate_kind(s, s->r->kinds[sample.kind].type, class);
  if (time < sample.time)
    time = sample.time;
  s->of->decided += sample.count;
  s->of->allocated += readsample_bytes(&sample);
  sample.born = s->decided += readsample_bytes(&sample);
  if (fate == 0)
    emitfate(s, &sample, READER_DIED, time);
  else
    survive(s, &sample, fate == 1 && s->r->followed > 0, time);
  return 1;
}

void readeremit_death (ReaderState *s, const ReadFollowed *f, size_t place, int orphan,
                       uint64_t time) {
  ReadState *row = s->r->many ? readerstate_row(s) : NULL;
  ReadDeath d;
  d.sample = &f->sample;
  d.time = time > f->sample.time ? time : f->sample.time;
  d.allocated = s->of->allocated - f->born;
  d.tag = f->tag;
  d.place = place;
  d.orphan = orphan;
  if (row != NULL)
    row->laterbytes += readsample_bytes(&f->sample);
  readerstate_toclient(s);
  if (s->client->death != NULL && f->sample.count > 0 && !ishiddensample(s, &f->sample))
    s->client->death(s->client->ud, &d);
}

void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead, uint64_t time) {
  const ReadFollowed *f;
  readerfollow_stay(&s->of->follow, alive);
  while (dead-- > 0 && (f = readerfollow_die(&s->of->follow)) != NULL)
    readeremit_death(s, f, s->of->follow.at - 1, 0, time);
}

void readeremit_collection (ReaderState *s, const ReadCollection *c) {
  ReadProfile *r = s->r;
  ReadCollection emitted = *c;
  ReadState *row = r->many ? readerstate_row(s) : NULL;
  readeremit_head(s);
  readerstate_toclient(s);
  emitted.stateinuse = c->inuse;
  emitted.stateheld = c->held;
  if (row != NULL) {
    row->minors += c->minors + (uint64_t)!c->major;
    row->majors += c->majors + (uint64_t)c->major;
    emitted.inuse = s->streams.inuse;
    emitted.held = s->streams.held;
  }
  if (!ishiddencollection(s, c)) {
    r->minors += c->minors + (uint64_t)!c->major;
    r->majors += c->majors + (uint64_t)c->major;
  }
  if (c->time > r->duration)
    r->duration = c->time;
  readerfollow_settle(&s->of->follow);
  emitted.decided = s->of->decided;
  emitted.survived = s->of->survived;
  s->of->decided = s->of->survived = 0;
  if (s->client->collection != NULL && !ishiddencollection(s, c))
    s->client->collection(s->client->ud, &emitted);
}

void readeremit_undecided (ReaderState *s) {
  ReadSample sample;
  while (fifo_take(&s->of->open, &sample))
    emitfate(s, &sample, READER_UNDECIDED, s->last);
}
