/* SPDX-License-Identifier: MIT */
/* Reads the deaths of native memory after its Lua state has ended (readerorphans.h). */
#include "readerorphans.h"
#include "list.h"
#include "readeremit.h"
#include "sample.h"

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
  const ReadFollowed *next;
  readerfollow_settle(f);
  while ((next = readerfollow_at(f, READERFOLLOW_ALL, f->to)) != NULL) {
    if (one->orphans > 0 && readerfollow_isnative(f, next))
      readerfollow_stay(f, 1);
    else {
      (void)readerfollow_die(f);
      readeremit_death(s, next, f->at - 1, 0, one->end);
    }
  }
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

/* Returns the stream, the reader's data of a Lua state; NULL if there is none. If the stream is in
   the array 'orphaned' (ended states with live native memory), sets *at to its index there; if it
   is in 'list', sets *at to IDMAP_NONE. */
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

void readerorphans_line (ReaderState *s, Fields *line) {
  int64_t difference;
  uint64_t id, alive, dead, time;
  ReaderStream *one, *before = s->of;
  ReaderFollow *f;
  const ReadFollowed *gone;
  size_t place = 0, n;
  uint32_t at;
  if (!s->r->many || !details_signed(line, &difference) || !details_number(line, &id) ||
      (one = readerorphans_find(s, id, &at)) == NULL || (one->closed && one->orphans == 0))
    return;
  time = readerstate_later(s->eventtime, difference);
  s->of = one;
  f = &one->follow;
  while (details_number(line, &alive) && details_number(line, &dead)) {
    n = readerfollow_n(f, READERFOLLOW_NATIVE) - place;
    place += alive < n ? (size_t)alive : n;
    for (; dead > 0 && (gone = readerfollow_at(f, READERFOLLOW_NATIVE, place)) != NULL; dead--) {
      readerfollow_remove(f, gone);
      one->orphans -= one->orphans > 0;
      readeremit_death(s, gone, place, 1, time);
    }
  }
  readerfollow_settle(f);
  s->of = before;
  if (one->orphans == 0 && at != IDMAP_NONE)
    drop(s, at);
}
