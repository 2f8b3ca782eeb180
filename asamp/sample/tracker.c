/* SPDX-License-Identifier: MIT */
/* The tracker of one state (tracker.h). */
#define _GNU_SOURCE
#include "tracker.h"
#include "binding.h"
#include "clock.h"
#include "descriptor.h"
#include "mallocs.h"
#include "uncancelled.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_NS	10000000	/* ns between records of collections that decide nothing */
#define RESIDENT_NS	100000000	/* ns between readings of resident bytes, which cost
					   as much as ten small collections */
#define RESIDENT_PART	16	/* a change of the heap by this part causes a reading earlier */
#define MIN_REAPED		4096	/* pending samples before dead native ones are removed */
#define DEATHS_NS	100000000	/* ns between checks for native deaths with
					   FOLLOWED_MOST samples; in proportion with fewer */
#define FIRST_TIMED	64	/* the time of the first samples is always measured */
#define TIMED_PART	16	/* then that of one in 16: reading the clock twice takes a
				   tenth of a sample's time */
#define MAX_SINGLE_POINTS	256	/* points in one block that are drawn one by one */
#define MAX_STALE_BITS		256	/* unused bits of 'watching' that are tolerated */
#define FEW_BLOCKS		128	/* number of watched blocks for which 2^FEW_BLOCKS_LOG
					   bits are enough */
#define FEW_BLOCKS_LOG		12


/* Opens the file each time: a descriptor kept open would show the parent after a fork, or a file that the
   program opened in its place. */
uint64_t tracker_rss (void) {
  char text[128], *resident;
  int fd = descriptor_open("/proc/self/statm", O_RDONLY, 0);
  ssize_t n = read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  resident = strchr(text, ' ');  /* after the size of all mappings */
  return (resident == NULL) ? 0 : (uint64_t)strtoull(resident, NULL, 10) *
                                  (uint64_t)sysconf(_SC_PAGESIZE);
}


static uint64_t rsswhen;	/* time of the last reading of tracker_recentrss, ns; atomic */

uint64_t tracker_recentrss (uint64_t now, uint64_t age) {
  static uint64_t rss;
  if (now - __atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE) >= age) {
    __atomic_store_n(&rss, tracker_rss(), __ATOMIC_RELAXED);
    __atomic_store_n(&rsswhen, now, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&rss, __ATOMIC_RELAXED);
}


/* {== callbacks of the core ============================================ */

#define WATCHBYTES	((1u << TRACKER_WATCHLOG) / 8)

/* Allocates the buffers for a sample if needed. Returns 0 without memory. */
static int isready (Tracker *t, int watched) {
  if (watched && t->watching == NULL) t->watching = calloc(1, WATCHBYTES);
  return (!watched || t->watching != NULL) &&
         (t->stack.frames != NULL || stack_ready(&t->stack));
}


/* Sets the bit of a block that is watched from now on (A6). */
static void watch (Tracker *t, lua_State *L, const void *block) {
  unsigned bit = luaN_watchbit(block, t->watchlog);
  t->watching[bit / 64] |= UINT64_C(1) << bit % 64;
  t->nwatching++;
  luaN_watch(L, t->watching, t->watchlog);
}


/* Clears the bits of blocks no longer watched if there are many (A6). No sample is pending. */
static void unwatch (Tracker *t, lua_State *L) {
  size_t i, n = t->followed.watched.n;
  if (t->nwatching == 0 || (n > 0 && t->nwatching < 2 * n + MAX_STALE_BITS)) return;
  memset(t->watching, 0, WATCHBYTES);
  t->nwatching = 0;
  t->watchlog = (n < FEW_BLOCKS) ? FEW_BLOCKS_LOG : TRACKER_WATCHLOG;
  luaN_watch(L, NULL, 0);
  for (i = 0; n > 0 && i < t->followed.n; i++) {
    const FollowedSample *s = &t->followed.samples[i];
    if (s->block != NULL && s->before == FOLLOWED_NONE)  /* once per chain */
      watch(t, L, s->block);
  }
}


/* Adds the time of a sample that started at 'began', if it is one to be measured. */
static void timed (Tracker *t, uint64_t began) {
  unsigned share = (t->ntimed < FIRST_TIMED) ? 1 : TIMED_PART;
  if (t->ntimed++ % share == 0) t->nanoseconds += share * clock_since(began);
}


/* {== copies (A8) ======================================================= */

static void tellcopy (Tracker *t, const ProfileSample *of, int sort, uint64_t count,
                      size_t shared, size_t n) {
  ProfileSample out = *of;
  if (count == 0) return;
  out.kind = sort;
  out.count = count;
  out.outside = 0;
  t->client->sample(t->ud, &out, shared, t->stack.frames, n);
}


/* Returns how many of 'count' points in a block of 'size' bytes lie in its first 'part' bytes. */
static uint64_t pointsin (Tracker *t, uint64_t count, uint64_t part, uint64_t size) {
  uint64_t i, n = 0;
  if (count > MAX_SINGLE_POINTS)
    return (uint64_t)((double)count * (double)part / (double)size + 0.5);
  for (i = 0; i < count; i++) n += (interval_draw(&t->copyinterval, size) < part);
  return n;
}


/* Reports the bytes copied into a string whose sample was just reported. The header of the block and its
   rounding are not copied. */
static void stringcopied (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding) {
  uint64_t text = s->size - (LUAN_STRINGHEAD + rounding);
  uint64_t again = luaN_replaced(L);
  uint64_t copied = pointsin(t, s->count, text, s->size);
  again = pointsin(t, copied, (again < text) ? again : text, text);
  tellcopy(t, s, COPY_AGAIN, again, t->stack.shared + t->stack.n, 0);
  tellcopy(t, s, COPY_NEW, copied - again, t->stack.shared + t->stack.n, 0);
}


/* Callback: growth has passed a sample point. */
static uint64_t copied (void *ud, lua_State *L, size_t n, uint64_t over) {
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
  room = (t->client->room == NULL) ? 1 : t->client->room(t->ud, out.count);
  if (room > 0 && stack_ready(&t->stack)) {
    stack_walk(&t->stack, L, t->native);
    tellcopy(t, &out, COPY_GROWN, out.count, t->stack.shared, t->stack.n);
  }
  else if (room == 0) tracker_lose(t, out.count);
  timed(t, out.time);
  t->busy--;
  return (room < 0) ? UINT64_MAX : distance;
}


/* Sets the first sample point of growth. */
static void startcopies (Tracker *t, lua_State *L) {
  if (!t->copying) return;
  t->copyinterval.period = t->interval.period;
  t->copyinterval.random = t->interval.random;
  luaN_setcopies(L, interval_first(&t->copyinterval));
}

/* }===================================================================== */


/* Callback for an allocation sample. Only its parts that may block disable thread cancellation: most
   samples do not. */
static uint64_t sample (void *ud, lua_State *L, const luaN_Sample *in,
                        uint64_t over) {
  Tracker *t = ud;
  lua_State *running;
  ProfileSample out;
  uint64_t distance;
  int watched, room;
  /* the client was removed in a forked child */
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
  /* non-objects can be freed explicitly; large strings and userdata are reported the same way */
  watched = (in->owner == in->block)
            ? ((in->outside && in->kind == LUAN_KSTRING) || in->kind == LUAN_KUSERDATA)
            : (in->kind != LUAN_KTHREAD);
  room = (t->client->room == NULL) ? 1 : t->client->room(t->ud, out.count);
  if (room < 0) {
    t->busy--;
    return INTERVAL_MAX;
  }
  if (room && isready(t, watched) &&
      pending_add(&t->pending, in->owner, watched ? in->block : NULL)) {
    stack_walk(&t->stack, running, t->native);
    t->pending.samples[t->pending.n - 1].birth =
      births_of(&out, t->interval.period, t->stack.frames, t->stack.n);
    if (watched) watch(t, L, in->block);
    t->client->sample(t->ud, &out, t->stack.shared, t->stack.frames, t->stack.n);
    t->samples += out.count;
    if (t->copying && in->kind == LUAN_KSTRING) stringcopied(t, L, &out, in->rounding);
  }
  else tracker_lose(t, out.count);
  timed(t, out.time);
  t->busy--;
  return distance;
}


/* {== native memory ===================================================== */

/* Reports the last pending sample, whose stack is in t->stack. */
static void tellnative (Tracker *t, const MallocSample *in) {
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
  t->client->sample(t->ud, &out, t->stack.shared, t->stack.frames, t->stack.n);
  t->natives += out.count;
}


/* Releases the slots of pending native samples whose blocks were freed. Called so rarely that the cost is
   one or two entries per sample. */
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
  t->reaping = t->pending.n + alive + MIN_REAPED;
}


/* Takes a native sample inside malloc (mallocs.h); L is the main thread of the running state. */
static int takenative (lua_State *L, const MallocSample *in) {
  UNCANCELLED;
  const luaN_Sampler *seam = luaN_getsampler(L);
  MallocSample s = *in;
  Tracker *t;
  if (seam == NULL || seam->sample != sample) return MALLOCS_NOTMINE;
  t = seam->ud;
  if (t->client == NULL || !t->mallocs) return MALLOCS_NOTMINE;
  if (t->busy || !t->client->ready(t->ud)) return MALLOCS_LOST;
  if (t->pending.n >= t->reaping) reap(t);
  if (!stack_ready(&t->stack) || !mallocs_watch(&s)) return MALLOCS_LOST;
  t->busy++;
  if (pending_add(&t->pending, s.owner, NULL)) {
    stack_known(&t->stack, L, s.native, s.n, s.whole, s.sp);
    tellnative(t, &s);
  }
  else {
    mallocs_forget(s.owner);
    tracker_lose(t, s.count);
  }
  timed(t, s.time);
  t->busy--;
  return MALLOCS_TAKEN;
}


/* Takes a native sample from the queue, whose thread ran no Lua. */
static void waitednative (void *ud, const MallocSample *s) {
  Tracker *t = ud;
  if ((t->client->room == NULL || t->client->room(t->ud, s->count)) && stack_ready(&t->stack) &&
      pending_add(&t->pending, s->owner, NULL)) {
    stack_known(&t->stack, NULL, s->native, s->n, s->whole, s->sp);
    tellnative(t, s);
  }
  else {
    mallocs_forget(s->owner);
    tracker_lose(t, s->count);
  }
}


static void drainnative (Tracker *t) {
  if (!t->mallocs || !mallocs_waiting(t)) return;
  t->busy++;
  mallocs_drain(t, waitednative, t);
  t->busy--;
}


/* Ends the watches of all native samples. */
static void forgetnative (Tracker *t) {
  size_t i;
  for (i = 0; i < t->pending.n; i++)
    if (mallocs_isowner(t->pending.samples[i].owner))
      mallocs_forget(t->pending.samples[i].owner);
  for (i = 0; i < t->followed.n; i++)
    if (mallocs_isowner(t->followed.samples[i].owner))
      mallocs_forget(t->followed.samples[i].owner);
}

/* }===================================================================== */


/* Reports the collection that decided survival. Its part of the pause ends now or, if 'over', at the end of
   the pause. */
static void tell (Tracker *t, lua_State *L, int over) {
  ProfileCollection *c = &t->collection;
  luaN_Memory m;
  int k;
  t->deciding = 0;
  luaN_memory(L, &m);
  c->time = over ? m.began + m.pause : clock_now();
  c->duration = clock_between(t->since, c->time);
  t->toldpauses += c->duration;
  c->processor = clock_between(t->sinceprocessor, clock_thread());
  t->sinceprocessor += c->processor;
  for (k = 0; k < LOOKED_COUNT; k++) {
    c->looked[k] = m.looked[k] - t->sincelooked[k];
    t->sincelooked[k] = m.looked[k];
  }
  c->inuse = m.inuse;
  c->held = m.held;
  c->rss = t->rss;
  c->tenured = m.tenured - t->tenured;
  c->state = (int)m.phase;
  c->label = luaN_label(luaN_running(L));
  if (!c->major) c->slices += m.slices - t->slices;
  t->slices = m.slices;
  t->tenured = m.tenured;
  t->since = c->time;
  t->client->collection(t->ud, c, &t->fates, &t->dead);
}


/* Skips the collections so far (A5): later counts start here. */
static void unseen (Tracker *t, const luaN_Memory *m) {
  t->minors = m->minors;
  t->majors = m->majors;
  t->tenured = m->tenured;
  t->planned = m->planned;
  t->charged = m->charged;
  t->pauses = m->pauses;
  t->slices = m->slices;
  t->toldpauses = 0;
}


/* Returns the ns of unreported pauses since the last reported one. */
static uint64_t leftpauses (Tracker *t, const luaN_Memory *m) {
  uint64_t all = m->pauses - t->pauses, told = t->toldpauses;
  t->pauses = m->pauses;
  t->toldpauses = 0;
  return (all > told) ? all - told : 0;
}


static int isdead (void *ud, const void *owner) {
  return mallocs_isowner(owner) ? mallocs_isdead(owner)
                                : luaN_isdead(((Tracker *)ud)->L, owner);
}


/* Judges native memory only, at a minor collection, which does not know dead old objects. */
static int isdeadnative (void *ud, const void *owner) {
  (void)ud;
  return mallocs_isowner(owner) && mallocs_isdead(owner);
}


static uint32_t classof (void *ud, const void *owner) {
  Tracker *t = ud;
  return mallocs_isowner(owner) ? 0 : classes_of(&t->classes, t->L, owner);
}


/* Decides the pending samples and starts to follow the survivors. */
static PendingFates decidefates (Tracker *t, const PendingJudge *judge) {
  PendingFates f = pending_fates(&t->pending, judge);
  size_t i;
  for (i = 0; i < f.n && t->client->follows; i++) {
    const PendingSample *s = &f.samples[i];
    if (!f.survived[i]) continue;
    if (followed_add(&t->followed, s->owner, s->block))
      t->followed.samples[t->followed.n - 1].birth = s->birth;
    else {
      if (mallocs_isowner(s->owner)) mallocs_forget(s->owner);
      f.survived[i] = 2;
      __atomic_store_n(&t->unfollowed, t->unfollowed + 1, __ATOMIC_RELAXED);
    }
  }
  return f;
}


/* Decides which followed samples have died. Old objects die in major collections only. Explicitly freed
   blocks (also large strings that die young) and native memory are reported with any record, because their
   peak does not depend on major collections, but only as often as the checks of the list take a hundredth
   of the time. At the last record, sampling is off while samples are still watched. */
static FollowedDeaths decidedeaths (Tracker *t, int major, uint64_t time,
                                    const PendingJudge *judge) {
  FollowedDeaths none = {NULL, 0};
  const PendingJudge native = {t, isdeadnative, NULL};
  int freed = (t->followed.nfreed > 0 ||
               ((t->mallocs || t->ending) && mallocs_deaths() != t->deaths)) &&
              (t->ending || time - t->looked >=
                            (uint64_t)t->followed.n * DEATHS_NS / FOLLOWED_MOST);
  if (!major && !freed) return none;
  t->deaths = mallocs_deaths();
  t->looked = time;
  return followed_deaths(&t->followed, major ? judge : &native);
}


/* Reads the resident bytes if they may have changed. If the cached value is older than a change of the
   heap, or after a major collection (new memory is touched later), it is soon read again. */
static void lookresident (Tracker *t, const luaN_Memory *m, int major, uint64_t time) {
  uint64_t changed = (m->held > t->heldthen) ? m->held - t->heldthen : t->heldthen - m->held;
  if (t->measured == 0 || major || changed > t->heldthen / RESIDENT_PART) {
    t->rss = tracker_recentrss(time, RECORD_NS);
    if (__atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE) >= time) t->heldthen = m->held;
  }
  else t->rss = tracker_recentrss(time, RESIDENT_NS);
}


/* Decides survival in a collection. Collections may come every few microseconds: one that decides nothing
   is only counted if the last record or reading is younger than RECORD_NS, unless another collection of the
   same pause is reported. In a pause with both kinds, the minor part ends where the major one decides. */
static void decideat (Tracker *t, lua_State *L, int major, uint64_t time) {
  PendingJudge judge = {t, isdead, classof};
  luaN_Memory m;
  const int second = t->deciding;  /* 1: second collection of the same pause */
  int quiet;
  luaN_memory(L, &m);
  if (second) {
    tell(t, L, 0);
    t->deciding = 1;  /* this one too */
  }
  else {
    t->since = m.began;
    t->sinceprocessor = m.processor;
    memset(t->sincelooked, 0, sizeof(t->sincelooked));
  }
  if (major) classes_forgetdead(&t->classes, L);
  drainnative(t);
  t->reaping = MIN_REAPED;
  t->fates = decidefates(t, &judge);
  t->dead = decidedeaths(t, major, time, &judge);
  unwatch(t, L);
  quiet = (t->fates.n == 0 && t->dead.n == 0 && !t->deciding);
  if (quiet && !t->on && !t->points && !t->ending) {
    unseen(t, &m);
    return;
  }
  if (time - t->measured >= RECORD_NS) {
    lookresident(t, &m, major, time);
    t->measured = time;
  }
  else if (quiet) return;
  t->deciding = 1;
  t->collection.major = major;
  t->collection.planned = m.planned - t->planned;
  t->collection.charged = m.charged - t->charged;
  t->planned = m.planned;
  t->charged = m.charged;
  t->collection.left = second ? 0 : leftpauses(t, &m);
  t->collection.slices = second ? 0 : m.slices - t->slices;  /* of those left out */
  if (!second) t->slices = m.slices;
  t->collection.minors = m.minors - t->minors - !major;
  t->collection.majors = m.majors - t->majors - major;
  t->minors = m.minors;
  t->majors = m.majors;
}


/* Returns 1 if decideat would only count this minor collection. Cheaper than decideat. */
static int isquiet (const Tracker *t, lua_State *L) {
  luaN_Memory m;
  if (t->pending.n > 0 || t->deciding || t->ending || !(t->on || t->points))
    return 0;
  if (t->mallocs && mallocs_waiting(t)) return 0;
  luaN_memory(L, &m);
  return m.began - t->measured < RECORD_NS;
}


static void decide (void *ud, lua_State *L, int major) {
  UNCANCELLED;
  Tracker *t = ud;
  uint64_t time;
  if (t->client == NULL || t->idle || (!major && isquiet(t, L))) return;
  time = clock_now();
  t->busy++;
  decideat(t, L, major, time);
  t->busy--;
  t->nanoseconds += clock_since(time);
}


/* Unregisters the tracker from the core if nothing needs it (A1). */
static void leave (Tracker *t, lua_State *L) {
  if (!t->on && !t->points && !t->mallocs && t->pending.n == 0 && t->followed.n == 0 &&
      luaN_getsampler(L) == &t->seam)
    luaN_setsampler(L, NULL, 0);
}


/* Returns the owners of all followed samples, from malloc; NULL without memory. */
static const void **ownersof (Tracker *t) {
  size_t i, n = t->followed.n;
  const void **owners = malloc((n + 1) * sizeof(*owners));
  for (i = 0; i < n && owners != NULL; i++) {
    owners[i] = t->followed.samples[i].owner;
    t->followed.samples[i].asked = (uint32_t)(i + 1);
  }
  return owners;
}


/* Starts a search for holders in a child process if the heap is large. Returns 0 if it does not. */
static int askholders (Tracker *t, lua_State *L) {
  const void **owners;
  luaN_Memory m;
  int ok;
  luaN_memory(L, &m);
  if (m.inuse < HOLDERSASK_HEAP || (owners = ownersof(t)) == NULL) return 0;
  ok = holdersask_begin(&t->asking, L, owners, t->followed.n);
  free((void *)owners);
  t->nanoseconds += ok ? t->asking.nanoseconds : 0;
  return ok;
}


/* Searches for holders if it is due. */
static void oftenholders (Tracker *t, lua_State *L) {
  uint64_t time = t->collection.time;
  int finished = (t->collection.major && t->collection.state == 0);
  if (time < t->holdersdue || (!finished && time - t->holdersdue < t->holdersevery)) return;
  if (t->followed.n > 0 && !askholders(t, L)) tracker_holders(t, L);
  t->holdersdue = clock_now() + t->holdersevery;
}


/* Reports the child's result for the samples still followed. 'asked' is a sample's position in the query,
   whatever its position in the list is now. */
static void answered (Tracker *t) {
  Holders h;
  size_t i, n = t->followed.n;
  uint32_t *ids;
  if (holdersask_look(&t->asking, &h) <= 0) return;
  ids = calloc(n + 1, sizeof(*ids));
  for (i = 0; i < n && ids != NULL; i++) {
    uint32_t asked = t->followed.samples[i].asked;
    ids[i] = asked > 0 && asked <= h.n ? h.ids[asked - 1] : 0;
  }
  if (ids != NULL) {
    free(h.ids);
    h.ids = ids;
    h.n = n;
    t->client->holders(t->ud, &h);
  }
  holders_free(&h);
}


static void told (Tracker *t, lua_State *L) {
  t->busy++;
  tell(t, L, 1);
  t->busy--;
  t->nanoseconds += clock_since(t->collection.time);
  if (t->asking.child != 0) answered(t);
  else if (t->holdersevery > 0 && !t->ending) oftenholders(t, L);
  leave(t, L);  /* if it stayed registered only for this */
}


static void collected (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  if (t->client == NULL) return;
  if (t->deciding) told(t, L);
  if (t->client == NULL || t->client->safe == NULL || t->ending) return;
  t->busy++;
  t->client->safe(t->ud, L);
  t->busy--;
}


static void freed (void *ud, lua_State *L, const void *block) {
  Tracker *t = ud;
  (void)L;
  t->busy++;
  pending_freed(&t->pending, block);  /* external memory of a userdata may be in both lists */
  followed_freed(&t->followed, block);
  t->busy--;
}


/* Callback: a watched block was resized; its samples are now watched at the new address. */
static void resized (void *ud, lua_State *L, const void *from, const void *to, uint64_t before,
                     uint64_t after) {
  Tracker *t = ud;
  BlockResized r = {from, to, before, after, &t->copyinterval};
  t->busy++;
  if (pending_resized(&t->pending, &r) + followed_resized(&t->followed, &r) > 0)
    watch(t, L, to);
  t->busy--;
}


static void point (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  t->busy++;
  if (t->client != NULL && t->points) t->client->point(t->ud, L);
  t->busy--;
}


static void closing (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  if (t->client != NULL) t->client->closing(t->ud, L);
}


static void starved (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  if (t->client == NULL || t->client->starved == NULL || t->idle) return;
  t->busy++;
  t->client->starved(t->ud, L);
  t->busy--;
}

/* }===================================================================== */


static void set (Tracker *t, lua_State *L) {
  t->L = luaN_main(L);
  t->watchlog = FEW_BLOCKS_LOG;
  t->seam.ud = t;
  t->seam.sample = sample;
  t->seam.decide = decide;
  t->seam.collected = collected;
  t->seam.freed = freed;
  t->seam.resized = resized;
  t->seam.point = point;
  t->seam.closing = closing;
  t->seam.copied = copied;
  t->seam.starved = starved;
}


int tracker_is (const luaN_Sampler *seam) {
  return seam->sample == sample;
}


int tracker_open (Tracker *t, lua_State *L, int lazy) {
  memset(t, 0, sizeof(*t));
  set(t, L);
  if (lazy) return 1;
  t->watching = calloc(1, WATCHBYTES);
  if (t->watching != NULL && stack_ready(&t->stack)) return 1;
  tracker_close(t);
  return 0;
}


void tracker_reopen (Tracker *t, lua_State *L) {
  Stack stack = t->stack;
  uint64_t *watching = t->watching;
  holdersask_end(&t->asking);
  if (t->nwatching > 0) memset(watching, 0, WATCHBYTES);
  classes_close(&t->classes);
  births_free(&t->functions);
  memset(t, 0, sizeof(*t));
  t->stack = stack;
  t->watching = watching;
  set(t, L);
}


/* Stops samples of native memory and their watches. */
static void stopnative (Tracker *t) {
  if (!t->mallocs) return;
  t->mallocs = 0;
  mallocs_end(t);
  tracker_lose(t, mallocs_lost());
  forgetnative(t);
}


void tracker_idle (Tracker *t, lua_State *L) {
  stopnative(t);
  holdersask_end(&t->asking);
  if (t->on) t->bytes += luaN_allocated(L) - t->from;
  t->on = t->points = 0;
  t->idle = 1;
  t->deciding = 0;
  pending_close(&t->pending);
  followed_close(&t->followed);
  if (luaN_getsampler(L) != &t->seam) luaN_setsampler(L, &t->seam, INTERVAL_MAX);
  else luaN_setdistance(L, INTERVAL_MAX);
  luaN_setcopies(L, UINT64_MAX);
}


void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc) {
  luaN_Memory m;
  stopnative(t);
  holdersask_end(&t->asking);
  pending_close(&t->pending);
  followed_close(&t->followed);
  t->interval.period = period;
  t->interval.random = random;
  tracker_again(t, seed, 0);
  luaN_memory(L, &m);
  if (t->idle) unseen(t, &m);  /* else the next record covers what the previous client missed */
  t->measured = 0;
  t->idle = 0;
  t->seeded = 1;
  t->on = alloc;
  t->points = !alloc;
  if (alloc) luaN_setdistance(L, interval_first(&t->interval));
  if (alloc) startcopies(t, L);
}


void tracker_forked (Tracker *t) {
  if (t->mallocs) mallocs_forked();
  t->mallocs = t->busy = 0;
  holdersask_end(&t->asking);
  pending_forget(&t->pending);
  followed_forget(&t->followed);
  t->deciding = 0;
  t->bytes = 0;
  t->from = luaN_allocated(t->L);
}


static void function (void *ud, uint64_t id, const char *name, int line,
                      const char *source);

void tracker_again (Tracker *t, uint64_t seed, int isforked) {
  interval_open(&t->interval, t->interval.period, t->interval.random, seed);
  interval_open(&t->copyinterval, t->interval.period, t->interval.random, ~seed);
  if (isforked) {
    stack_forget(&t->stack);
    births_forget(&t->functions);
    classes_forgetall(&t->classes);
  }
  else {
    births_free(&t->functions);
    stack_begin(&t->stack, function, t);
    classes_begin(&t->classes, t->client->class, t->ud);
  }
  t->samples = t->natives = 0;
  __atomic_store_n(&t->unfollowed, 0, __ATOMIC_RELAXED);
  tracker_setlost(t, 0);
  if (isforked) return;  /* tracker_forked has reset the counters */
  t->bytes = 0;
  t->from = luaN_allocated(t->L);
}


void tracker_close (Tracker *t) {
  holdersask_end(&t->asking);
  pending_close(&t->pending);
  followed_close(&t->followed);
  stack_close(&t->stack);
  births_free(&t->functions);
  classes_close(&t->classes);
  free(t->watching);
}


/* Reports a function to the client and stores it for snapshots. */
static void function (void *ud, uint64_t id, const char *name, int line,
                      const char *source) {
  Tracker *t = ud;
  births_function(&t->functions, id, name, line, source);
  t->client->function(t->ud, id, name, line, source);
}


void tracker_begin (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native) {
  t->client = client;
  t->ud = ud;
  t->native = native;
  t->interval.period = period;
  t->seeded = 0;
  t->samples = t->natives = t->bytes = t->nanoseconds = 0;
  tracker_setlost(t, 0);
  __atomic_store_n(&t->unfollowed, 0, __ATOMIC_RELAXED);
  t->copying = 0;
  t->holdersevery = 0;
  holdersask_end(&t->asking);
  births_free(&t->functions);
  stack_begin(&t->stack, function, t);
  classes_begin(&t->classes, client->class, ud);
}


void tracker_abandon (Tracker *t) {
  if (t->mallocs) mallocs_forked();
  t->mallocs = t->busy = 0;
  if (t->on) t->bytes += luaN_allocated(t->L) - t->from;
  t->client = NULL;
  t->on = t->points = t->deciding = 0;
  holdersask_end(&t->asking);
  pending_forget(&t->pending);
  followed_forget(&t->followed);
}


/* Runs the minor collection that decides the last samples. */
static void last (Tracker *t, lua_State *L) {
  t->measured = 0;  /* its record is always reported */
  t->classes.final = t->ending = 1;
  luaN_collect(L);
  t->classes.final = t->ending = 0;
}


size_t tracker_holders (Tracker *t, lua_State *L) {
  Holders h;
  const void **owners;
  size_t n = t->followed.n;
  if (t->client == NULL || t->client->holders == NULL || n == 0) return 0;
  holdersask_end(&t->asking);  /* this result is newer */
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


/* Stops samples of native memory and reports the last ones. */
static void endnative (Tracker *t, lua_State *L) {
  if (!t->mallocs) return;
  drainnative(t);
  t->mallocs = 0;
  mallocs_end(t);
  tracker_lose(t, mallocs_lost());
  last(t, L);
}


void tracker_finish (Tracker *t, lua_State *L) {
  int off = !tracker_off(t, L);
  endnative(t, L);
  if (off && t->followed.nfreed > 0) last(t, L);
}


void tracker_leave (Tracker *t, lua_State *L) {
  if (luaN_getsampler(L) == &t->seam) luaN_setsampler(L, NULL, 0);
  forgetnative(t);
  pending_close(&t->pending);
  followed_close(&t->followed);
  tracker_abandon(t);
}


void tracker_end (Tracker *t, lua_State *L) {
  tracker_finish(t, L);
  tracker_leave(t, L);
}


/* Registers the tracker with the core. Earlier collections are not its own; the first one after this is
   reported even if it decides nothing. */
static void enter (Tracker *t, lua_State *L, uint64_t distance) {
  if (luaN_getsampler(L) != &t->seam) {
    luaN_Memory m;
    luaN_memory(L, &m);
    unseen(t, &m);
    t->measured = 0;
    t->deciding = 0;
    classes_forget(&t->classes);
  }
  luaN_setsampler(L, &t->seam, distance);
  if (t->nwatching > 0) luaN_watch(L, t->watching, t->watchlog);
}


void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed) {
  if (t->seeded) {
    t->interval.period = period;
    t->interval.random = random;
  }
  else {
    interval_open(&t->interval, period, random, seed);
    interval_open(&t->copyinterval, period, random, ~seed);
  }
  t->seeded = 1;
  t->on = 1;
  t->from = luaN_allocated(L);
  enter(t, L, interval_first(&t->interval));
  startcopies(t, L);
}


int tracker_off (Tracker *t, lua_State *L) {
  luaN_Memory m;
  if (!t->on) return 0;
  luaN_setdistance(L, INTERVAL_MAX);  /* no samples from here on */
  luaN_setcopies(L, UINT64_MAX);
  t->bytes += luaN_allocated(L) - t->from;
  t->on = 0;
  luaN_memory(L, &m);
  if (t->pending.n > 0 || t->followed.nfreed > 0 || m.minors != t->minors ||
      m.majors != t->majors)
    last(t, L);
  leave(t, L);
  return 1;
}


void tracker_points (Tracker *t, lua_State *L, int on) {
  t->points = on;
  if (!on) leave(t, L);
  else if (luaN_getsampler(L) != &t->seam) enter(t, L, INTERVAL_MAX);
}


void tracker_period (Tracker *t, lua_State *L, uint64_t period) {
  if (t->on)
    luaN_setdistance(L, interval_change(&t->interval, period, luaN_distance(L)));
  else t->interval.period = period;
  if (t->on) startcopies(t, L);
}


int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed) {
  if (!mallocs_begin(period, seed, takenative, t)) return 0;
  t->mallocs = period;
  t->reaping = MIN_REAPED;
  t->deaths = mallocs_deaths();
  if (luaN_getsampler(t->L) != &t->seam) enter(t, t->L, INTERVAL_MAX);
  return 1;
}


const Tracker *tracker_of (lua_State *L) {
  const luaN_Sampler *s = luaN_getsampler(L);
  return (s != NULL && s->sample == sample) ? s->ud : NULL;
}


uint64_t tracker_bytes (const Tracker *t, lua_State *L) {
  return t->bytes + (t->on ? luaN_allocated(L) - t->from : 0);
}
