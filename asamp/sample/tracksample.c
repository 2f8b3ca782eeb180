/* SPDX-License-Identifier: MIT */
/* Takes allocation samples (tracksample.h). */
#include "tracksample.h"
#include "binding.h"
#include "births.h"
#include "clock.h"
#include "trackcopies.h"
#include "trackwatch.h"

/* Allocates the buffers for a sample if needed; with 'watched' 1, also those for watching its
   block. Returns 0 if out of memory. */
static int tracksample_isready (Tracker *t, int watched) {
  if (watched && !trackwatch_ready(t)) return 0;
  return t->stack.frames != NULL || stack_ready(&t->stack);
}

uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over) {
  Tracker *t = ud;
  lua_State *running;
  ProfileSample out;
  uint64_t distance;
  int watched, room;
  /* a forked child has no client */
  if (t->client == NULL || t->idle) return INTERVAL_MAX;
  t->busy++;
  out.time = clock_now();
  out.size = in->size;
  out.count = interval_pass(&t->interval, over, &distance);
  out.thread = t->number;
  running = luaN_running(L);
  out.label = luaN_label(running);
  out.kind = (int)in->kind;
  out.outside = in->outside;
  /* 1: the free of the block must be noticed at once. Such blocks are large strings, userdata, and
     blocks that an object may free before it dies, such as the array of a table. */
  watched = (in->owner == in->block)
            ? ((in->outside && in->kind == LUAN_KSTRING) || in->kind == LUAN_KUSERDATA)
            : (in->kind != LUAN_KTHREAD);
  room = t->client->room(t->ud, out.count);
  if (room < 0) {
    t->busy--;
    return INTERVAL_MAX;
  }
  if (room && tracksample_isready(t, watched) &&
      pending_add(&t->pending, in->owner, watched ? in->block : NULL)) {
    stack_walk(&t->stack, running, t->native);
    t->pending.samples[t->pending.n - 1].birth =
      births_of(&out, t->interval.period, t->stack.frames, t->stack.n);
    if (watched) trackwatch_add(t, L, in->block);
    t->samples += out.count;  /* before the call, in which the client reads t->samples */
    t->client->sample(t->ud, &out, t->stack.shared, t->stack.frames, t->stack.n);
    if (t->copying && in->kind == LUAN_KSTRING) trackcopies_string(t, L, &out, in->rounding);
  }
  else tracker_lose(t, out.count);
  tracker_timed(t, out.time);
  t->busy--;
  return distance;
}

Tracker *tracksample_of (lua_State *L) {
  const luaN_Sampler *s = luaN_getsampler(L);
  return (s != NULL && s->sample == tracksample_take) ? s->ud : NULL;
}
