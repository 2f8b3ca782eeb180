/* SPDX-License-Identifier: MIT */
/* Samples copied bytes (trackcopies.h). */
#include "trackcopies.h"
#include "binding.h"
#include "clock.h"
#include "uncancelled.h"

#include <string.h>

#define MAX_SINGLE_POINTS	256	/* largest number of sample points for which pointsin draws
                                           each position at random */

static void reportcopy (Tracker *t, const ProfileSample *of, int sort, uint64_t count,
                        size_t shared, size_t n) {
  ProfileSample out = *of;
  if (count == 0) return;
  out.kind = sort;
  out.count = count;
  out.outside = 0;
  t->client->sample(t->ud, &out, shared, t->stack.frames, n);
}

/* Returns how many of 'count' random points in 'size' bytes lie in the first 'part' bytes. For
   more than MAX_SINGLE_POINTS points, returns the expected number. */
static uint64_t pointsin (Tracker *t, uint64_t count, uint64_t part, uint64_t size) {
  uint64_t i, n = 0;
  if (count > MAX_SINGLE_POINTS)
    return (uint64_t)((double)count * (double)part / (double)size + 0.5);
  for (i = 0; i < count; i++) n += (interval_draw(&t->copyinterval, size) < part);
  return n;
}

void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding) {
  uint64_t text = s->size - (LUAN_STRINGHEAD + rounding);
  uint64_t again = luaN_replaced(L);
  uint64_t copied = pointsin(t, s->count, text, s->size);
  again = pointsin(t, copied, (again < text) ? again : text, text);
  reportcopy(t, s, COPY_AGAIN, again, t->stack.shared + t->stack.n, 0);
  reportcopy(t, s, COPY_NEW, copied - again, t->stack.shared + t->stack.n, 0);
}

uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over) {
  UNCANCELLED;
  Tracker *t = ud;
  ProfileSample out;
  uint64_t distance;
  int room;
  if (t->client == NULL || !t->on || !t->copying) return UINT64_MAX;
  t->busy++;
  memset(&out, 0, sizeof(out));
  out.time = clock_now();
  out.size = n;
  out.count = interval_pass(&t->copyinterval, over, &distance);
  out.thread = t->number;
  out.label = luaN_label(luaN_running(L));
  room = t->client->room(t->ud, out.count);
  if (room > 0 && stack_ready(&t->stack)) {
    stack_walk(&t->stack, L, t->native);
    reportcopy(t, &out, COPY_GROWN, out.count, t->stack.shared, t->stack.n);
  }
  else if (room == 0) tracker_lose(t, out.count);
  tracker_timed(t, out.time);
  t->busy--;
  return (room < 0) ? UINT64_MAX : distance;
}

void trackcopies_start (Tracker *t, lua_State *L) {
  if (!t->copying) return;
  t->copyinterval.period = t->interval.period;
  t->copyinterval.random = t->interval.random;
  luaN_setcopies(L, interval_first(&t->copyinterval));
}
