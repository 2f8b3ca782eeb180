/* SPDX-License-Identifier: MIT */
/* Tracks samples of native memory that outlive their state (orphans.h). */
#include "orphans.h"

#include "clock.h"
#include "list.h"
#include "mallocs.h"
#include "resident.h"

#include <stdlib.h>
#include <string.h>

/* Shortest time between two checks whether blocks of orphans (samples of closed states) were freed,
   ns, if there are MALLOC_SLOTS orphans. With fewer orphans, the time is shorter in proportion. */
#define CHECK_NS		100000000

typedef struct Orphan {
  const void *owner;
  uint32_t state;
  /* source line that allocated the block, as the index that resident_left has returned */
  unsigned line;
  float bytes;
} Orphan;

static struct {
  const Profile *profile;	/* profile to which all elements of 'list' belong; atomic */
  Orphan *list;
  size_t n, size;		/* number of orphans in 'list' (atomic); its capacity */
  /* Values at the last check for deaths. 'deaths': number of watched blocks freed so far
     (mallocs_deaths); 'checked': time, ns. Both are atomic. */
  uint64_t deaths, checked;
} o;

static void setcount (size_t n) {
  __atomic_store_n(&o.n, n, __ATOMIC_RELAXED);
}

static void orphans_leave (const Orphan *one) {
  resident_freed(one->line, (uint64_t)one->bytes);
}

void orphans_forget (const Profile *p) {
  size_t i;
  if (o.profile != p) return;
  for (i = 0; i < o.n; i++) {
    mallocs_forget(o.list[i].owner);
    orphans_leave(&o.list[i]);
  }
  setcount(0);
  __atomic_store_n(&o.profile, NULL, __ATOMIC_RELAXED);
}

/* Does not free the list: another thread may have been changing it at the fork. */
void orphans_forked (void) {
  memset(&o, 0, sizeof(o));
}

static unsigned lineof (const BirthFunctions *functions, const Birth *b) {
  char *where = footprint_where(functions, b->function, b->line);
  unsigned line = resident_left(where != NULL ? where : "?", (uint64_t)b->bytes);
  free(where);
  return line;
}

uint64_t orphans_adopt (const ProfileState *s, Tracker *t) {
  Followed *f = &t->followed;
  size_t i, natives = 0;
  for (i = 0; i < f->n; i++) natives += (size_t)mallocs_isowner(f->samples[i].owner);
  if (natives == 0) return 0;
  if (o.profile != s->profile) orphans_forget(o.profile);
  __atomic_store_n(&o.profile, s->profile, __ATOMIC_RELAXED);
  if (!list_room(&o.list, o.n + natives, &o.size, sizeof(*o.list))) return 0;
  for (i = 0; i < f->n; i++) {
    FollowedSample *one = &f->samples[i];
    if (!mallocs_isowner(one->owner)) continue;
    o.list[o.n].owner = one->owner;
    o.list[o.n].state = s->id;
    o.list[o.n].bytes = one->birth.bytes;
    o.list[o.n].line = lineof(&t->functions, &one->birth);
    setcount(o.n + 1);
    one->owner = NULL;
  }
  return natives;
}

int orphans_aredue (const Profile *p, uint64_t now) {
  size_t n = __atomic_load_n(&o.n, __ATOMIC_RELAXED);
  return n > 0 && __atomic_load_n(&o.profile, __ATOMIC_RELAXED) == p &&
         mallocs_deaths() != __atomic_load_n(&o.deaths, __ATOMIC_RELAXED) &&
         now - __atomic_load_n(&o.checked, __ATOMIC_RELAXED) >=
         (uint64_t)n * CHECK_NS / MALLOC_SLOTS;
}

typedef struct Walk {
  /* 'from': index in o.list of the next orphan to visit. 'to': index to which that orphan is moved
     if it is live. */
  size_t from, to;
  /* Number of live orphans of the state that is visited now, before index 'from'. */
  size_t alive;
} Walk;

/* Visits the orphans (samples of closed states) of one state from index w->from on, and removes
   those whose blocks were freed. Stores in 'runs' the lengths of runs of consecutive orphans:
   alive, dead, alive, and so on, up to the last dead one. Stops after 'most' lengths. Returns the
   number of lengths, and stores the state's id in *state. */
static size_t runsof (Walk *w, uint32_t *runs, size_t most, uint32_t *state) {
  size_t n = 0, alive = w->alive;
  int dead = 0;
  *state = o.list[w->from].state;
  for (; w->from < o.n && o.list[w->from].state == *state; w->from++) {
    if (mallocs_isfreed(o.list[w->from].owner)) {
      if (!dead && n == most) break;
      (void)mallocs_isdead(o.list[w->from].owner);
      orphans_leave(&o.list[w->from]);
      if (!dead) {
        runs[n++] = (uint32_t)alive;
        runs[n++] = 0;
      }
      runs[n - 1]++;
      dead = 1;
    }
    else {
      alive = dead ? 1 : alive + 1;
      w->alive++;
      dead = 0;
      o.list[w->to++] = o.list[w->from];
    }
  }
  if (w->from == o.n || o.list[w->from].state != *state) w->alive = 0;
  return n;
}

/* Records the time of a check for deaths, and the number of watched blocks freed until then. */
static void orphans_check (void) {
  __atomic_store_n(&o.deaths, mallocs_deaths(), __ATOMIC_RELAXED);
  __atomic_store_n(&o.checked, clock_now(), __ATOMIC_RELAXED);
}

void orphans_emit (Profile *p) {
  ProfileState of = {p, 0, 0, 1};
  uint32_t runs[PROFILE_LASTRUNS];
  Walk w = {0, 0, 0};
  if (o.profile != p || o.n == 0) return;
  orphans_check();
  while (w.from < o.n) {
    size_t n = runsof(&w, runs, PROFILE_LASTRUNS, &of.id);
    if (n > 0) profile_orphans(&of, o.checked, runs, n);
  }
  setcount(w.to);
}

int orphans_last (Profile *p, int *started, ProfileLast *last) {
  static ProfileState of;
  static Walk w;
  if (o.profile != p) return 0;
  if (!*started) {
    memset(&w, 0, sizeof(w));
    orphans_check();
  }
  *started = 1;
  last->nruns = 0;
  while (last->nruns == 0) {
    if (w.from >= o.n) return 0;
    of.profile = p;
    of.outside = 1;
    last->nruns = runsof(&w, last->runs, PROFILE_LASTRUNS, &of.id);
  }
  last->state = &of;
  last->time = o.checked;
  return 1;
}
