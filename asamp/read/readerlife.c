/* SPDX-License-Identifier: MIT */
/* Start and end of Lua states (readerlife.h). */
#include "readerlife.h"
#include "readeremit.h"
#include "readerorphans.h"

/* Delivers the deaths of the samples that are still alive in closed states, except those of native
   memory. Removes the streams of these states from s->streams.list; the last element of the list
   fills each gap. */
static void buryclosed (ReaderState *s) {
  ReaderStreams *all = &s->streams;
  ReaderStream *one;
  while ((one = all->closed) != NULL) {
    ReaderStream *moved = all->list[--all->n];
    all->closed = one->next;
    all->list[one->place] = moved;
    moved->place = one->place;
    if (!moved->closed && !idmap_set(&all->places, (uint64_t)moved->id + 1, moved->place))
      s->failed = 1;
    s->of = one;
    readerorphans_bury(s);
  }
  readerstate_none(s);
}

void readerlife_start (ReaderState *s, uint64_t id, uint64_t time) {
  ReadState *row;
  if (!s->r->many)
    return;
  buryclosed(s);
  readerstate_of(s, id);
  row = readerstate_row(s);
  if (row != NULL && !row->others)
    row->opened = time;
  readerstate_toclient(s);
  if (s->client->starts != NULL && !s->of->hidden && !s->of->blind)
    s->client->starts(s->client->ud, time);
}

void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans) {
  ReadState *row = readerstate_row(s);
  ReaderStream *of = s->of;
  if (of == &s->single || of->closed)
    return;
  readeremit_undecided(s);
  if (row != NULL && !row->others) {
    row->closed = time;
    row->ended = 1;
  }
  if (!of->hidden) {
    s->streams.inuse -= of->before.inuse;
    s->streams.held -= of->before.held;
  }
  of->before.inuse = of->before.held = 0;
  /* The file identifies an orphan by its position among the live samples of native memory. If the
     file has another number of these samples ('orphans') than of->follow, the positions are not
     valid, so drops the orphans. */
  of->orphans = readerfollow_n(&of->follow, READERFOLLOW_NATIVE) == orphans ? orphans : 0;
  readerstate_toclient(s);
  if (s->client->ends != NULL && !of->hidden)
    s->client->ends(s->client->ud, time, of->orphans);
  of->closed = 1;
  of->end = time;
  if (s->streams.closed == NULL)
    s->streams.closed = of;
  else
    s->streams.last->next = of;
  s->streams.last = of;
  readerstate_none(s);
}

/* Returns the exact number of bytes that the selected Lua states have allocated. Returns 0 if it is
   unknown because a state has no count in the file, or is open at the end of an incomplete file. */
static uint64_t allocatedby (const ReaderState *s) {
  const ReadProfile *r = s->r;
  const ReadState *row;
  uint64_t bytes = 0;
  int open;
  for (row = r->states; row < r->states + r->nstates; row++) {
    if (!readerstate_iswanted(s->client, row->id))
      continue;
    open = !row->ended || row->others;
    if ((open && !r->complete) ||
        (row->allocated == 0 && (row->samples > 0 || (open && r->allocated == 0))))
      return 0;
    bytes += row->allocated;
  }
  return bytes;
}

void readerlife_finish (ReaderState *s) {
  size_t i;
  for (i = 0; i < s->streams.n; i++) {
    s->of = s->streams.list[i];
    readeremit_undecided(s);
  }
  readerstate_none(s);
  readeremit_undecided(s);
  if (s->client->only != NULL && s->r->many)
    s->r->allocated = allocatedby(s);
}
