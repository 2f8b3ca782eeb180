/* SPDX-License-Identifier: MIT */
/* Reads the deaths of native memory after its Lua state has ended (readerorphans.h). */
#include "readerorphans.h"
#include "list.h"
#include "readeremit.h"
#include "sample.h"

/* Returns 1 if the entry is a sample of native memory. */
static int isnative (const ReadProfile *r, const ReadFollowed *f) {
  return f->sample.count > 0 && r->kinds[f->sample.kind].type == KIND_NATIVE &&
         f->sample.kind >= READER_FIRSTKIND;
}

void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n) {
  uint64_t natives = 0;
  size_t i;
  readerfollow_settle(&one->follow);
  for (i = 0; i < one->follow.n; i++)
    natives += (uint64_t)isnative(r, &one->follow.list[i]);
  one->orphans = natives == n ? n : 0;
}

/* Moves the stream of an ended state to ReaderStreams.orphaned. If this array has READER_MAXSTREAMS
   streams, frees the stream and counts its orphans in ReadProfile.left. */
static void readerorphans_keep (ReaderState *s, ReaderStream *one) {
  ReaderStreams *all = &s->streams;
  if (all->norphaned == READER_MAXSTREAMS) {
    s->r->left[LEFT_STREAMS] += one->orphans;
    readerstream_free(one);
    return;
  }
  fifo_free(&one->open);
  idmap_free(&one->paths);
  if (!list_grow(&all->orphaned, all->norphaned, &all->orphanedsize, sizeof(*all->orphaned)) ||
      !idmap_set(&all->orphanedplaces, (uint64_t)one->id + 1, (uint32_t)all->norphaned)) {
    s->failed = 1;
    readerstream_free(one);
    return;
  }
  all->orphaned[all->norphaned++] = one;
}

void readerorphans_bury (ReaderState *s) {
  ReaderStream *one = s->of;
  ReaderFollow *f = &one->follow;
  ReadFollowed gone;
  readerfollow_settle(f);
  while (f->at < f->n) {
    if (one->orphans > 0 && isnative(s->r, &f->list[f->at]))
      readerfollow_stay(f, 1);
    else if (readerfollow_die(f, &gone))
      readeremit_death(s, &gone, f->at - 1, 0, one->end);
  }
  readerfollow_settle(f);
  if (one->orphans > 0)
    readerorphans_keep(s, one);
  else
    readerstream_free(one);
}

/* Frees the stream orphaned[at]. The last stream of the array moves to this index. */
static void drop (ReaderState *s, uint32_t at) {
  ReaderStreams *all = &s->streams;
  ReaderStream *last = all->orphaned[--all->norphaned];
  readerstream_free(all->orphaned[at]);
  if (at == all->norphaned)
    return;
  all->orphaned[at] = last;
  if (!idmap_set(&all->orphanedplaces, (uint64_t)last->id + 1, at))
    s->failed = 1;
}

/* Returns the stream, the reader's data of a Lua state, or NULL if there is none. The array
   'orphaned' has the streams of ended states with live native memory. If the stream is in it, sets
   *at to its index there; if it is in 'list', sets *at to IDMAP_NONE. */
static ReaderStream *readerorphans_find (const ReaderState *s, uint64_t id, uint32_t *at) {
  const ReaderStreams *all = &s->streams;
  uint32_t place;
  if (id >= UINT32_MAX)
    return NULL;
  *at = idmap_get(&all->orphanedplaces, id + 1);
  if (*at < all->norphaned && all->orphaned[*at]->id == id)
    return all->orphaned[*at];
  *at = IDMAP_NONE;
  place = idmap_get(&all->places, id + 1);
  return place < all->n && all->list[place]->id == id ? all->list[place] : NULL;
}

/* Continues a pass over a state's list of live survivors (readerfollow.h), and counts only those
   that are native memory: keeps the next 'alive' ones, and adds this number to *place; then removes
   the next 'dead' ones and delivers their deaths to the client. All other survivors are kept. */
static void readerorphans_pass (ReaderState *s, ReaderStream *one, uint64_t alive,
                                uint64_t dead, size_t *place, uint64_t time) {
  ReaderFollow *f = &one->follow;
  while (f->at < f->n && alive + dead > 0) {
    ReadFollowed gone;
    if (!isnative(s->r, &f->list[f->at]))
      readerfollow_stay(f, 1);
    else if (alive > 0) {
      readerfollow_stay(f, 1);
      alive--;
      (*place)++;
    }
    else {
      (void)readerfollow_die(f, &gone);
      one->orphans -= one->orphans > 0;
      dead--;
      readeremit_death(s, &gone, *place, 1, time);
    }
  }
}

void readerorphans_line (ReaderState *s, Fields *line) {
  int64_t difference;
  uint64_t id, alive, dead, time;
  ReaderStream *one, *before = s->of;
  size_t place = 0;
  uint32_t at;
  if (!s->r->many || !details_signed(line, &difference) || !details_number(line, &id) ||
      (one = readerorphans_find(s, id, &at)) == NULL || (one->closed && one->orphans == 0))
    return;
  time = readerstate_later(s->eventtime, difference);
  s->of = one;
  while (details_number(line, &alive) && details_number(line, &dead))
    readerorphans_pass(s, one, alive, dead, &place, time);
  readerfollow_settle(&one->follow);
  s->of = before;
  if (one->orphans == 0 && at != IDMAP_NONE)
    drop(s, at);
}
