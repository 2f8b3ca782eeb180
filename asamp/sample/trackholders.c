/* SPDX-License-Identifier: MIT */
/* Searches for the references that keep samples alive, and reports them (trackholders.h). */
#include "trackholders.h"
#include "binding.h"
#include "clock.h"

#include <stdlib.h>

/* Returns the owners of all samples in t->followed, in a vector from malloc. Stores in each
   sample's 'queried' the index in the vector + 1. Returns NULL if out of memory. */
static const void **ownersof (Tracker *t) {
  size_t i, n = t->followed.n;
  const void **owners = malloc((n + 1) * sizeof(*owners));
  for (i = 0; i < n && owners != NULL; i++) {
    owners[i] = t->followed.samples[i].owner;
    t->followed.samples[i].queried = (uint32_t)(i + 1);
  }
  return owners;
}

/* Starts a search in a child process if at least HOLDERSSEARCH_HEAP bytes of the heap are in use.
   Returns 0 if it started none. */
static int searchholders (Tracker *t, lua_State *L) {
  const void **owners;
  luaN_Memory m;
  int ok;
  luaN_memory(L, &m);
  if (m.inuse < HOLDERSSEARCH_HEAP || (owners = ownersof(t)) == NULL) return 0;
  ok = holderssearch_start(&t->search, L, owners, t->followed.n);
  free((void *)owners);
  t->nanoseconds += ok ? t->search.nanoseconds : 0;
  return ok;
}

size_t trackholders_now (Tracker *t, lua_State *L) {
  Holders h;
  const void **owners;
  size_t n = t->followed.n;
  if (t->client == NULL || n == 0) return 0;
  holderssearch_end(&t->search);  /* a search that is still running would later report an older
                                     result */
  if ((owners = ownersof(t)) == NULL) return 0;
  if (holders_find(&h, L, owners, n)) {
    t->client->holders(t->ud, &h);
    t->nanoseconds += h.nanoseconds;
    holders_free(&h);
  }
  else n = 0;
  free((void *)owners);
  return n;
}

/* Returns 1 if a search is due according to the interval that trackholders_every set. 'finished' 1:
   a major collection has just ended. */
static int trackholders_isdue (const Tracker *t, int finished) {
  uint64_t time = t->collection.time;
  return t->holdersevery > 0 && time >= t->holdersdue &&
         (finished || time - t->holdersdue >= t->holdersevery);
}

/* Returns 1 if a search is due according to rule TH1 in trackholders.h: the number of live samples
   has doubled since the last search, the heap is small, and searches take a small part of the
   session's time. */
static int trackholders_hasgrown (const Tracker *t, lua_State *L) {
  luaN_Memory m;
  if (t->followed.n < t->holdersgrown) return 0;
  luaN_memory(L, &m);
  return m.inuse < HOLDERSSEARCH_HEAP &&
         (t->holdersgrown == TRACKHOLDERS_FIRST ||
          m.inuse * TRACKHOLDERS_NS * TRACKHOLDERS_SHARE <= t->collection.time - t->holderssince);
}

void trackholders_often (Tracker *t, lua_State *L) {
  int finished = (t->collection.major && t->collection.state == 0);
  if (!trackholders_isdue(t, finished) && !(finished && trackholders_hasgrown(t, L))) return;
  if (t->holdersgrown != SIZE_MAX && t->followed.n >= TRACKHOLDERS_FIRST)
    t->holdersgrown = 2 * t->followed.n;
  if (t->followed.n > 0 && !searchholders(t, L)) trackholders_now(t, L);
  t->holdersdue = clock_now() + t->holdersevery;
}

void trackholders_answered (Tracker *t) {
  Holders h;
  size_t i, n = t->followed.n;
  uint32_t *ids;
  if (holderssearch_poll(&t->search, &h) <= 0) return;
  ids = calloc(n + 1, sizeof(*ids));
  for (i = 0; i < n && ids != NULL; i++) {
    uint32_t queried = t->followed.samples[i].queried;
    ids[i] = queried > 0 && queried <= h.n ? h.ids[queried - 1] : 0;
  }
  if (ids != NULL) {
    free(h.ids);
    h.ids = ids;
    h.n = n;
    t->client->holders(t->ud, &h);
  }
  holders_free(&h);
}
