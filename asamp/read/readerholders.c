/* SPDX-License-Identifier: MIT */
/* Reads the paths of references to live samples (readerholders.h). */
#include "readerholders.h"
#include "readerlabels.h"
#include "list.h"

/* Adds the path of a line "H" to ReadProfile.paths if the array has no equal path. Maps the path's
   number in the file to its index + 1. If the path exceeds a limit (READER_MAXSTEPS,
   READER_MAXPATHS or READER_MAXNAMES), maps the number to the parent path, if there is one. */
void readerholders_path (ReaderState *s, Fields *line) {
  ReadProfile *r = s->r;
  uint64_t id, parent, key, length;
  uint32_t above = 0, step, same;
  if (!details_number(line, &id) || !details_number(line, &parent) || id == 0 ||
      id >= UINT32_MAX || idmap_get(&s->of->paths, id + 1) != IDMAP_NONE)
    return;
  if (s->of->paths.n >= READER_MAXIDS) {
    r->left[LEFT_PATHS]++;
    return;
  }
  if (parent != 0 && (above = idmap_get(&s->of->paths, parent + 1)) == IDMAP_NONE)
    return;  /* ignores a path whose parent was not defined */
  line->p += line->p < line->end;  /* skips the space */
  if (above > 0 && r->paths[above - 1].depth >= READER_MAXSTEPS) {
    r->left[LEFT_STEPS]++;
    s->failed |= !idmap_set(&s->of->paths, id + 1, above);
    return;
  }
  step = strtab_put(&r->text, line->p, (size_t)(line->end - line->p));
  key = ((uint64_t)above << 32 | step) + 1;
  if ((same = idmap_get(&s->bystep, key)) != IDMAP_NONE) {
    s->failed |= !idmap_set(&s->of->paths, id + 1, same);
    return;
  }
  length = (uint64_t)(line->end - line->p) + (above > 0 ? r->paths[above - 1].length : 0);
  if (r->npaths >= READER_MAXPATHS || r->pathtext + length > READER_MAXNAMES) {
    r->left[LEFT_PATHS]++;
    s->failed |= above > 0 && !idmap_set(&s->of->paths, id + 1, above);
    return;
  }
  if (!list_grow(&r->paths, r->npaths, &s->pathsize, sizeof(*r->paths))) {
    s->failed = 1;
    return;
  }
  r->pathtext += length;
  r->paths[r->npaths++] = (ReadPath){.parent = above, .step = step, .length = length,
                                     .depth = above > 0 ? r->paths[above - 1].depth + 1 : 1};
  s->failed |= !idmap_set(&s->bystep, key, (uint32_t)r->npaths) ||  /* index of the path + 1 */
               !idmap_set(&s->of->paths, id + 1, (uint32_t)r->npaths);
}

void readerholders_runs (ReaderState *s, Fields *line) {
  uint64_t first, n, id;
  ReaderFollow *f = &s->of->follow;
  if (!details_number(line, &first))
    return;
  readerfollow_settle(f);
  if (first) {  /* a new heap walk, which has not reached any survivor yet */
    s->of->holderat = 0;
    f->walks++;
  }
  while (details_number(line, &n) && details_number(line, &id)) {
    uint32_t path = id == 0 || id >= UINT32_MAX ? IDMAP_NONE : idmap_get(&s->of->paths, id + 1);
    size_t all = readerfollow_n(f, READERFOLLOW_ALL), at = s->of->holderat;
    size_t left = at < all ? all - at : 0;
    left = n < left ? (size_t)n : left;
    if (path != IDMAP_NONE && left > 0)
      readerfollow_hold(f, at, left, path);
    s->of->holderat += left;
  }
}

void readerholders_walk (ReaderState *s, Fields *line) {
  ReadProfile *r = s->r;
  ReadWalk w;
  int64_t difference;
  if (!details_signed(line, &difference) || !details_number(line, &w.duration))
    return;
  w.time = readerstate_later(s->eventtime, difference);
  if (s->of->hidden || readerstate_isoutside(s, w.time))
    return;
  if (w.duration > READER_MAXCOUNT)
    w.duration = READER_MAXCOUNT;
  r->walks++;
  r->walked += w.duration;
  if (w.duration > r->longestwalk)
    r->longestwalk = w.duration;
  readerstate_toclient(s);
  if (s->client->walk != NULL)
    s->client->walk(s->client->ud, &w);
}

/* Calls the client's callback 'held' for the survivors of a state that are alive at the end of the
   file. */
static void finishone (ReaderState *s, ReaderStream *one) {
  size_t i, n = readerfollow_n(&one->follow, READERFOLLOW_ALL);
  s->of = one;
  readerstate_toclient(s);
  for (i = 0; i < n && !one->hidden && s->client->stop == NULL; i++) {
    const ReadFollowed *f = readerfollow_at(&one->follow, READERFOLLOW_ALL, i);
    FollowNode held = readerfollow_held(&one->follow, f);
    if (f->sample.count > 0 && !readerlabels_unwanted(s, f->sample.labels) &&
        !readerstate_isexcluded(s, &f->sample)) {
      s->client->place = i;
      s->client->unreached = held.walk != one->follow.walks;
      s->client->held(s->client->ud, &f->sample, held.holder);
    }
  }
}

void readerholders_finish (ReaderState *s) {
  size_t i;
  if (s->client->held == NULL || s->r->npaths == 0)
    return;
  finishone(s, &s->single);
  for (i = 0; i < s->streams.n; i++)
    finishone(s, s->streams.list[i]);
  readerstate_none(s);
}
