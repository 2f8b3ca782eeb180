/* SPDX-License-Identifier: MIT */
/* Takes samples of native memory for a tracker (tracknative.h). */
#include "tracknative.h"
#include "binding.h"
#include "tracksample.h"
#include "uncancelled.h"

/* Reports the newest sample in t->pending, with the stack in t->stack. */
static void reportnative (Tracker *t, const MallocSample *in) {
  ProfileSample out;
  out.time = in->time;
  out.size = in->size;
  out.count = in->count;
  out.thread = t->number;
  out.label = luaN_label(luaN_running(t->L));
  out.kind = KIND_NATIVE;
  out.outside = 1;
  t->pending.samples[t->pending.n - 1].birth =
    births_of(&out, t->mallocs, t->stack.frames, t->stack.n);
  t->natives += out.count;  /* before the call, in which the client reads t->natives */
  t->client->sample(t->ud, &out, t->stack.shared, t->stack.frames, t->stack.n);
}

/* Marks the samples in t->pending whose native block was freed, and releases their slots. Then sets
   t->reaping, the number of samples at which 'reap' is called next. The number grows with the
   number of live native blocks, which bounds the time of searching. */
static void reap (Tracker *t) {
  size_t i, alive = 0;
  for (i = 0; i < t->pending.n; i++) {
    PendingSample *s = &t->pending.samples[i];
    if (!mallocs_isowner(s->owner)) continue;
    if (mallocs_isdead(s->owner)) {
      s->owner = NULL;
      s->died = 1;
    }
    else alive++;
  }
  t->reaping = t->pending.n + alive + TRACKNATIVE_MINREAPED;
}

int tracknative_take (lua_State *L, const MallocSample *in) {
  UNCANCELLED;
  Tracker *t = tracksample_of(L);
  MallocSample s = *in;
  if (t == NULL || t->client == NULL || !t->mallocs) return MALLOCS_NOTMINE;
  if (t->busy || t->pending.n >= TRACKNATIVE_PENDING) return MALLOCS_LOST;
  if (!t->client->ready(t->ud)) return MALLOCS_LOST;
  if (t->pending.n >= t->reaping) reap(t);
  if (!stack_ready(&t->stack) || !mallocs_watch(&s)) return MALLOCS_LOST;
  t->busy++;
  if (pending_add(&t->pending, s.owner, NULL)) {
    t->stack.inmalloc = 1;
    stack_known(&t->stack, L, s.native, s.n, s.whole, s.sp);
    t->stack.inmalloc = 0;
    reportnative(t, &s);
  }
  else {
    mallocs_forget(s.owner);
    tracker_lose(t, s.count);
  }
  tracker_timed(t, s.time);
  t->busy--;
  return MALLOCS_TAKEN;
}

/* Adds to the tracker a sample of native memory that was queued, because no Lua state whose native
   memory is sampled ran on its OS thread. Called by mallocs_drain for each queued sample. */
static void takewaiting (void *ud, const MallocSample *s) {
  Tracker *t = ud;
  if (t->client->room(t->ud, s->count) > 0 && stack_ready(&t->stack) &&
      pending_add(&t->pending, s->owner, NULL)) {
    stack_known(&t->stack, NULL, s->native, s->n, s->whole, s->sp);
    reportnative(t, s);
  }
  else {
    mallocs_forget(s->owner);
    tracker_lose(t, s->count);
  }
}

void tracknative_drain (Tracker *t) {
  if (!t->mallocs || !mallocs_waiting(t)) return;
  t->busy++;
  mallocs_drain(t, takewaiting, t);
  t->busy--;
}

void tracknative_forget (Tracker *t) {
  size_t i;
  for (i = 0; i < t->pending.n; i++)
    if (mallocs_isowner(t->pending.samples[i].owner))
      mallocs_forget(t->pending.samples[i].owner);
  for (i = 0; i < t->followed.n; i++)
    if (mallocs_isowner(t->followed.samples[i].owner))
      mallocs_forget(t->followed.samples[i].owner);
}

void tracknative_stop (Tracker *t) {
  if (!t->mallocs) return;
  t->mallocs = 0;
  mallocs_end(t);
  tracker_lose(t, mallocs_lost());
  tracknative_forget(t);
}
