/* SPDX-License-Identifier: MIT */
/* Common data of the reader's parts (readerstate.h). */
#include "readerstate.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int readerstate_open (ReaderState *s, ReaderClient *client) {
  ReadProfile *r;
  memset(s, 0, sizeof(*s));
  s->client = client;
  s->period = 1;
  readerstate_none(s);
  s->stat[0] = s->stat[1] = s->stat[2] = -1;
  s->r = r = calloc(1, sizeof(*r));
  if (r == NULL)
    return 0;
  r->kinds = calloc(READER_MAXKINDS, sizeof(*r->kinds));
  r->nkinds = READER_FIRSTKIND;
  if (r->kinds == NULL || !strtab_init(&r->text, READER_MAXNAMES) || !tree_init(&r->tree))
    return 0;
  s->unknown = strtab_put(&r->text, "[unknown]", 9);
  return s->unknown != 0;
}

void readerstate_close (ReaderState *s) {
  free(s->runs);
  while (s->streams.n > 0)
    readerstream_free(s->streams.list[--s->streams.n]);
  free(s->streams.list);
  idmap_free(&s->streams.places);
  while (s->streams.norphaned > 0)
    readerstream_free(s->streams.orphaned[--s->streams.norphaned]);
  free(s->streams.orphaned);
  idmap_free(&s->streams.orphanedplaces);
  idmap_free(&s->streams.rows);
  idmap_free(&s->streams.threads);
  fifo_free(&s->single.open);
  readerfollow_free(&s->single.follow);
  idmap_free(&s->single.paths);
  idmap_free(&s->kinds);
  idmap_free(&s->types);
  idmap_free(&s->classes);
  idmap_free(&s->byname);
  idmap_free(&s->bystep);
  aliases_free(&s->aliases);
}

/* ------------------------------------------------------------- states -- */

void readerstream_free (ReaderStream *s) {
  fifo_free(&s->open);
  readerfollow_free(&s->follow);
  idmap_free(&s->paths);
  free(s);
}

int readerstate_iswanted (const ReaderClient *c, uint32_t id) {
  size_t low = 0, high = c->nonly;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (c->only[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  return c->only == NULL || (low < c->nonly && c->only[low] == id);
}

/* Creates the row of a Lua state in ReadProfile.states. Returns the row's index. If there are
   READER_MAXSTATES rows, returns the last row, which several states then share. */
static uint32_t newrow (ReaderState *s, uint32_t id) {
  ReadProfile *r = s->r;
  ReadState *row;
  if (r->nstates == READER_MAXSTATES) {
    row = &r->states[r->nstates - 1];
    row->others += row->others < INT32_MAX;
    r->left[LEFT_STATES]++;
    return (uint32_t)r->nstates - 1;
  }
  if (!list_grow(&r->states, r->nstates, &s->streams.rowsize, sizeof(*r->states)) ||
      !idmap_set(&s->streams.rows, (uint64_t)id + 1, (uint32_t)r->nstates)) {
    s->failed = 1;
    return 0;
  }
  row = &r->states[r->nstates];
  memset(row, 0, sizeof(*row));
  row->id = id;
  return (uint32_t)r->nstates++;
}

/* Returns the stream of a Lua state, which is the reader's data of this state; creates it if
   needed. If there are READER_MAXSTREAMS streams, or if out of memory, returns &s->single, which
   all further states share. */
static ReaderStream *stream (ReaderState *s, uint32_t id) {
  ReaderStreams *all = &s->streams;
  uint32_t at = idmap_get(&all->places, (uint64_t)id + 1);
  ReaderStream *new;
  if (at != IDMAP_NONE && at < all->n && all->list[at]->id == id && !all->list[at]->closed)
    return all->list[at];
  if (all->n >= READER_MAXSTREAMS) {
    s->single.blind = 1;
    s->single.hidden = !readerstate_iswanted(s->client, id);
    s->single.row = idmap_get(&all->rows, (uint64_t)id + 1);
    if (s->single.row == IDMAP_NONE)
      s->single.row = newrow(s, id);
    return &s->single;
  }
  new = calloc(1, sizeof(*new));
  if (new == NULL || !list_grow(&all->list, all->n, &all->size, sizeof(*all->list)) ||
      !idmap_set(&all->places, (uint64_t)id + 1, (uint32_t)all->n)) {
    s->failed = 1;
    free(new);
    return &s->single;
  }
  new->id = id;
  new->place = (uint32_t)all->n;
  new->row = idmap_get(&all->rows, (uint64_t)id + 1);
  if (new->row == IDMAP_NONE)
    new->row = newrow(s, id);
  new->hidden = !readerstate_iswanted(s->client, id);
  return all->list[all->n++] = new;
}

void readerstate_of (ReaderState *s, uint64_t id) {
  if (!s->r->many || (s->of->id == id && s->of != &s->single && !s->of->closed))
    return;
  s->of = stream(s, id < UINT32_MAX ? (uint32_t)id : UINT32_MAX - 1);
}

ReadState *readerstate_find (ReaderState *s, uint64_t id) {
  uint32_t number = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX - 1;
  uint32_t at = idmap_get(&s->streams.rows, (uint64_t)number + 1);
  if (at == IDMAP_NONE && (s->r->nstates == READER_MAXSTATES || s->streams.n >= READER_MAXSTREAMS))
    return NULL;
  if (at == IDMAP_NONE)
    at = newrow(s, number);
  return at < s->r->nstates && !s->r->states[at].others ? &s->r->states[at] : NULL;
}

ReadState *readerstate_row (ReaderState *s) {
  return s->of->row < s->r->nstates ? &s->r->states[s->of->row] : NULL;
}

ReadThread *readerstate_threadrow (ReaderState *s) {
  return s->of->thread != 0 ? &s->r->threads[s->of->thread - 1] : NULL;
}

void readerstate_thread (ReaderState *s, uint64_t thread) {
  ReadProfile *r = s->r;
  ReadState *row = readerstate_row(s);
  uint32_t id = thread < UINT32_MAX ? (uint32_t)thread : 0;
  uint32_t at = idmap_get(&s->streams.threads, (uint64_t)id + 1);
  if (at == IDMAP_NONE) {
    if (r->nthreads == READER_MAXTHREADS) {
      r->left[LEFT_THREADS]++;
      s->of->thread = 0;
      return;
    }
    if (!list_grow(&r->threads, r->nthreads, &s->streams.threadsize, sizeof(*r->threads)) ||
        !idmap_set(&s->streams.threads, (uint64_t)id + 1, (uint32_t)r->nthreads)) {
      s->failed = 1;
      return;
    }
    at = (uint32_t)r->nthreads++;
    memset(&r->threads[at], 0, sizeof(*r->threads));
    r->threads[at].id = id;
  }
  s->of->thread = at + 1;
  if (row != NULL)
    row->thread = id;
}

const char *readerstate_failure (const ReaderState *s) {
  if (s->failed || s->r->text.failed)
    return "not enough memory";
  if (s->toomuch)
    return "the samples of the file represent more than 2^62 bytes or nanoseconds, the limit";
  return s->client->stop;
}

uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class) {
  ReadProfile *r = s->r;
  uint64_t key = class != 0 ? (uint64_t)1 << 63 | class << 8 | type : type + 1;
  uint32_t kind = idmap_get(&s->kinds, key);
  if (kind != IDMAP_NONE)
    return kind;
  if (r->nkinds == READER_MAXKINDS) {
    if (class != 0) {
      r->left[LEFT_KINDS]++;
      return readerstate_kind(s, type, 0);
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
