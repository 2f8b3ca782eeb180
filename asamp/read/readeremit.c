/* SPDX-License-Identifier: MIT */
/*
** What the client is told. See readeremit.h.
*/
#include "readeremit.h"

#include <string.h>

void readeremit_begin (ReaderState *s) {
  if (!s->begun && s->client->begin != NULL)
    s->client->begin(s->client->ud, s->r);
  s->begun = 1;
}

static void tellfate (ReaderState *s, const ReadSample *sample, int fate,
                      uint64_t time) {
  readeremit_begin(s);
  if (s->client->fate != NULL)
    s->client->fate(s->client->ud, sample, fate, time);
}

void readeremit_sample (ReaderState *s, const ReadSample *sample) {
  Reading *r = s->r;
  readeremit_begin(s);
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
    f.holder = 0;
    readerfollow_add(&s->follow, &f);
  }
}

int readeremit_decide (ReaderState *s, int fate, uint64_t class,
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
    sample.kind = readerstate_kind(s, s->r->kinds[sample.kind].type, class);
  if (time < sample.time)
    time = sample.time;
  s->decided += sample.count;
  s->allocated += reading_bytes(&sample);
  if (fate == 0)
    tellfate(s, &sample, READER_DIED, time);
  else
    survive(s, &sample, fate == 1 && s->r->followed > 0, time);
  return 1;
}

void readeremit_deaths (ReaderState *s, uint64_t alive, uint64_t dead,
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

void readeremit_collection (ReaderState *s, const ReadCollection *c) {
  Reading *r = s->r;
  ReadCollection told = *c;
  readeremit_begin(s);
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

void readeremit_undecided (ReaderState *s) {
  ReadSample sample;
  while (fifo_take(&s->open, &sample))
    tellfate(s, &sample, READER_UNDECIDED, s->last);
}
