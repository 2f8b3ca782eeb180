/* SPDX-License-Identifier: MIT */
/*
** The pacer (pace.h): how large the next nursery is, when a major collection begins, and
** how much of it a step pays for.
**
** A nursery is as large as what is old (up to twice that; half of it where a process has many
** states), or a 64th of all that the state has allocated, within bounds: a state that does little
** stays small; one that is large, or has been busy, has a nursery that fits into the cache of a
** core (from 256 KiB to 1 MiB makes no difference that can be told from noise; with 64 KiB,
** programs of small heaps spend a tenth of their time on the holes between survivors). Where a
** process has many states, being busy counts for less: they share what the nurseries of a few
** would take, for those that are idle keep what is young, and old garbage, in memory; by how much
** a heap grows, and the volume, follow their number, too. Where most of a nursery outlives it, and
** much of what is old dies, objects live a little longer than a nursery, as those of a queue do, and
** a larger one has less to mark: it is doubled, and again, in heaps that are not big and have few
** finalizers, which would come later.
**
** A major collection begins for one of these reasons:
**   growth      what is in use, with what userdata stand for outside, or what
**               the heap takes up, is that much more than the last one left
**   volume      so much has been allocated since the last one, in multiples of
**               what is live, that a look at the old is a small part of the work:
**               what has died there is found in a heap that does not grow. A
**               look that finds little makes the next one wait four times longer,
**               unless the heap has become another one. Half of it is enough where
**               little has been tenured, a part of it where many have finalizers
**   finalizers  of the old objects with finalizers, many are new
**   weak        of the entries of weak tables with old keys or values, many are new; where as
**               many come while it runs, it hurries
** In the incremental mode the volume is what upstream's pause would be. Modes and
** parameters are the program's, but for what an operator has said (tuning.c).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"

#include "limit.h"
#include "pace.h"
#include "seam.h"
#include "tuning.h"

/* Bytes of the nursery: of a small state, and at most. */
#define NURSERY_MIN	((size_t)16 * 1024)
#define NURSERY_MAX	((size_t)512 * 1024)

/* ... as large as what is old up to this, then twice as much more, ... */
#define NURSERY_SMALL	((size_t)64 * 1024)

/* ... doubled so often where its half and more outlives it (OUTLIVED), until it is less than a
   quarter, ... */
#define WIDER_MOST	2u
#define OUTLIVED	2u

/* ... of one of many states so much at most, whatever their number, ... */
#define NURSERY_FEW	((size_t)32 * 1024)

/* ... of one that has no room for that, at least, ... */
#define NURSERY_TIGHT	((size_t)4 * 1024)

/* ... and of all states of the process that have been busy, together. */
#define NURSERIES	((size_t)8 * 1024 * 1024)

/* In a big heap that is being marked, whose slices have a bound, and where marking is
   owed: more of them, so that less dies behind the marker's back. Still more where a major
   collection hurries for the sake of weak tables, until it ends. */
#define NURSERY_MARKING	((size_t)256 * 1024)
#define NURSERY_HURRIED	((size_t)64 * 1024)

/* A nursery may have texts beside, which age: so many times as much as the last collection has
   left young of them, up to such a part of what is old and so many bytes in all states of the
   process together. Where some live a while, as those of a queue do, they die before they are
   old; where none do, the memory of those before is used again while the cache has it. */
#define TEXTROOM_AGED		4u
#define TEXTROOM_PART		4u
#define TEXTROOM		((size_t)16 * 1024 * 1024)

/* Part of a state's allocation that its nursery may be. */
#define NURSERY_PART		64u

/* Live bytes below which a heap may grow by as much before a collection: so many, and less where
   there are many states, whose old garbage is in memory together; but these at least. */
#define MIN_GROWTH		((size_t)512 * 1024)
#define GROWTHS		((size_t)16 * 1024 * 1024)
#define LEAST_GROWTH		((size_t)32 * 1024)

/* Part of the growth that is granted whatever the heap takes up. */
#define FOOTPRINT_PART		2u

/* Percent of the multiplier: the rest is for what is allocated meanwhile. */
#define GROWTH_PERCENT		60u

/*
** Volume before a major collection, in heaps: at first, and at most. A heap counts
** as VOLUME_MIN times the least growth at least. Little is less than a FOUND-th of what was old.
*/
#define PATIENCE_MIN	2u
#define PATIENCE_MAX	128u
#define VOLUME_MIN	8u
#define FOUND		8

/*
** Long strings that are listed (texts), and userdata that are, are made faster
** by the byte than anything else, and lead nowhere, or not far. One that is alive as a collection
** comes, or has a finalizer, is tenured, and dead soon; what
** finds it is a look at all that is old. So as much of them as is live, within bounds, may be
** tenured before the heap has grown for that (all states of the process share the most), and
** their allocation counts for the volume by such a part. In the incremental mode they count like
** all else.
*/
#define TEXTS_MOST	((size_t)8192 * 1024)
#define TEXTS_PART	8u

/* ... but for young ones, as each state may have so many: they are gone soon. */
#define AGED_LEAST	((size_t)1024 * 1024)

/* Half of the volume is enough where the heap has grown by less than this part: what
   was dropped meanwhile would stay the longer the less is made anew. */
#define QUIET_PART	8

/* What dies with a finalizer waits for a look at the old, whatever else is there: an
   object that has one counts as so many bytes of the heap, which is looked at that much
   more often, but not more than so many times as often. */
#define FINALIZER_BYTES	((size_t)256)
#define FINALIZERS_MOST	8u

/* New finalizable objects among the old are many: so many, and that part of those
   which the last major collection left; they count when so many heaps have been
   allocated since, twice as many when half of these; but not before one heap has, or a program that
   goes on making them would have all that is old looked at for each few nurseries. (In the
   incremental mode the pause may be one heap: there they may come before.) Of what the last one has
   marked for finalizers only, and of what died while it ran, so small a part counts: it is garbage
   by now, as a rule, and each collection would find more of it than the one before. */
#define FINALIZERS_MIN	32u
#define FINALIZERS_PART	8u
#define FINALIZERS_HEAPS 2u
#define DOOMED_PART	8u

/* New entries of weak tables with old keys or values are many when they are one for so
   many bytes of what is live; they count when as much as is live has been allocated, or so
   many times as much where the last major collection found little. */
#define WEAK_BYTES	1024u
#define WEAK_HEAPS	2u

/* Part of the heap to allocate between two steps of a cycle. */
#define STEP_PART		8
#define MIN_CYCLE_GAP		1024u	/* bytes at least before a cycle begins */

/* Largest step that the incremental mode may be set to (log2 of bytes). */
#define LARGESTSTEP	30

/*
** Bytes of marking for a byte that was allocated. In a heap that no cache holds,
** marking a MiB takes some two milliseconds: there a slice is at most MAX_BIG_SLICE
** bytes, which such a heap, as it grows slowly, has time for.
*/
#define WORK_PER_BYTE		4
#define STEPMUL		100	/* the step multiplier that this is for */

/* In the incremental mode a step pays for as much as by hand, but not for more
   than this unless WORK_PER_BYTE does. */
#define MIN_STEP_WORK		((size_t)1024 * 1024)
#define MAX_BIG_SLICE		((size_t)512 * 1024)

/*
** Where weak tables get many entries, as caches do, a major collection hurries: what it marks
** grows by them, what dies meanwhile is found by the next one only, and each would find more
** to do than the one before. In a big heap, whose slices have a bound, there are more of them.
** If the last one found much that was dead (in caches half of it: keys that are strings are held
** until their entries are gone), a byte of a nursery pays for so many times as much, or such
** a slice is so many times as large.
*/
#define WEAK_FOUND	32	/* much is such a part of what was old */
#define WEAK_WORK		4
#define WEAK_SLICES		2

/*
** What a pause pays for at most, in a heap that no cache holds and else: one block may
** be as large as the heap, and its share of the marking a pause that everybody sees.
** The rest is owed, up to a part of what the last major collection left: where a program makes
** large blocks and nothing else there are few pauses, and each block is as much garbage
** as the heap, so that a debt as large as what is old had no end. But a deep recursion's stack
** is one block of up to 16 MiB, which no other follows soon: what that pays for may be owed
** beside, up to so many times what is left, and is paid off by each pause. Who has asked for a
** large nursery has larger ones while a collection hurries.
*/
#define OWED_PART	4
#define OWED_BY_STACKS	2
#define MAX_BIG_PAUSE_WORK	((size_t)1024 * 1024)
#define MAX_PAUSE_WORK	((size_t)2048 * 1024)


/* Bytes of old objects that no cache holds: marking them is slow. */
#define MIN_BIG_HEAP	((l_mem)64 * 1024 * 1024)


static unsigned states;		/* of this process */


void luaN_addstates (int n) {
  __atomic_add_fetch(&states, (unsigned)n, __ATOMIC_RELAXED);
}


unsigned luaN_countstates (void) {
  return __atomic_load_n(&states, __ATOMIC_RELAXED);
}


size_t luaN_stepsize (global_State *g) {
  return (size_t)1 << (g->gcstepsize < LARGESTSTEP ? g->gcstepsize : LARGESTSTEP);
}


/* Bytes allocated, as they count for the volume. */
static uint64_t spent (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  if (h->gc.pace.fullcycles) return h->allocated;
  return h->allocated - h->texts / TEXTS_PART * (TEXTS_PART - 1);
}


/* In the incremental mode: bytes until a cycle begins, or so many that the steps
   for them end one soon. */
static size_t untilcycle (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t since = spent(g) - c->pace.since;
  size_t part = (size_t)c->bytes.old / STEP_PART, least = luaN_stepsize(g);
  if (g->gcstate != GCSpause) return (part > least) ? part : least;
  return (since + MIN_CYCLE_GAP < c->pace.volume) ? (size_t)(c->pace.volume - since) : MIN_CYCLE_GAP;
}


/* lua_Alloc has refused something to the nursery that ends: the next ones are smaller
   than that was by then. */
static void tighten (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n = (size_t)(g->GCdebt + (l_mem)(c->pace.nursery - c->pace.deferred)) / 4 * 3;
  c->pace.tight = (n > NURSERY_TIGHT) ? n : NURSERY_TIGHT;
  g->heap.blocks.refused = 0;
}


/* Sizes between two bounds, each as often as any other, whatever rhythm the program has:
   multiples of the golden ratio, less their whole parts (Weyl's sequence). */
static size_t between (luaN_Pace *p) {
  p->turn = (p->turn + 2654435769u) & 0xFFFFFFFFu;
  return p->tuning.nursery +
         (size_t)((uint64_t)p->turn * (p->tuning.most - p->tuning.nursery) >> 32);
}


uint64_t luaN_charged (global_State *g, uint64_t *planned) {
  const luaN_Pace *p = &g->heap.gc.pace;
  uint64_t now = (uint64_t)(g->GCdebt + (l_mem)(p->nursery - p->deferred));
  *planned = p->planned + (now < p->size ? now : p->size);
  return p->charged + now;
}


/* Have weak tables got many entries since the last major collection began? Their dead ones are
   found by major collections only, and may hold any amount of memory. Until the first one has
   ended nobody has told what is live: then it is what is old. */
static int hasmanyweak (const luaN_Gc *c) {
  size_t live = (c->pace.cycles != 0) ? c->pace.live : (size_t)c->bytes.old;
  return c->weak.tenured > live / WEAK_BYTES;
}


void luaN_cyclebegins (luaN_Gc *c) {
  c->pace.hurried = hasmanyweak(c);
}


/* Does the major collection that runs hurry? */
static int ishurried (const luaN_Gc *c) {
  return c->pace.hurried || hasmanyweak(c);
}


/* Are its slices to be worth more? */
static int paysmore (const luaN_Gc *c) {
  return c->pace.found && ishurried(c);
}


/* What the nursery of a big heap, whose slices have a bound, may be at most. */
static size_t mostofbig (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  if (g->gcstate != GCSpause && ishurried(c)) return NURSERY_HURRIED;
  return c->mark.major ? NURSERY_MARKING : NURSERY_MAX;
}


void luaN_outlived (luaN_Gc *c, size_t bytes) {
  luaN_Pace *p = &c->pace;
  if (!p->found || c->finalize.finalizable.v.n >= FINALIZERS_MIN || bytes < p->size / OUTLIVED / 2)
    p->wider -= (p->wider > 0);
  else if (bytes >= p->size / OUTLIVED && p->size >= NURSERY_MAX && p->wider < WIDER_MOST) p->wider++;
}


/* What the nursery of one of many states, which has such a share, may be at most: the young
   garbage of those that are idle is in memory together, beside what is live. */
static size_t mostamong (const luaN_Gc *c, size_t share) {
  size_t most = NURSERY_MAX << c->pace.wider, old = (size_t)c->bytes.old / 2;
  if (most > share && most > NURSERY_MAX) most = (share > NURSERY_MAX) ? share : NURSERY_MAX;
  if (most > 2 * share && most > old) most = (2 * share > old) ? 2 * share : old;
  return (most < NURSERY_FEW) ? NURSERY_FEW : most;
}


/* Room for texts beside a nursery: none while they do not age, where lua_Alloc has refused memory,
   or the program has said how large a nursery is. */
static size_t textroom (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t room = (size_t)c->bytes.old / TEXTROOM_PART, most = TEXTROOM / luaN_countstates();
  if (most > TEXTROOM_AGED * c->bytes.aged) most = TEXTROOM_AGED * c->bytes.aged;
  if (g->gcstate != GCSpause || c->pace.fullcycles || c->pace.tight != 0 ||
      c->pace.fixednursery != 0 || c->pace.tuning.nursery != 0)
    return 0;
  return (room < most) ? room : most;
}


void luaN_newnursery (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n;
  c->pace.charged = luaN_charged(g, &c->pace.planned);
  if (g->heap.blocks.refused) tighten(g);
  if (!gcrunning(g)) n = NURSERY_MAX;
  else if (c->pace.tuning.most != 0) n = between(&c->pace);
  else if (c->pace.tuning.nursery != 0) n = c->pace.tuning.nursery;
  else if (c->pace.fixednursery != 0) n = c->pace.fixednursery;
  else {
    uint64_t busy = g->heap.allocated / NURSERY_PART;
    size_t share = NURSERIES / luaN_countstates(), most;
    if (busy > share) busy = share;
    n = (size_t)c->bytes.old;
    if (n > NURSERY_SMALL) n += n - NURSERY_SMALL;
    if (n < busy) n = (size_t)busy;
    most = mostamong(c, share);
    n = (n < NURSERY_MIN) ? NURSERY_MIN : (n > most) ? most : n;
    most = NURSERY_MARKING << c->pace.wider;
    if (c->pace.owed > 0 && n > most) n = most;
    if (c->bytes.old > MIN_BIG_HEAP && n > mostofbig(g)) n = mostofbig(g);
    if (c->pace.tight != 0 && n > c->pace.tight) n = c->pace.tight;
    if (c->pace.fullcycles) {
      most = untilcycle(g);
      if (n > most) n = most;
    }
  }
  c->pace.deferred = c->bytes.youngoutside = g->heap.spare = 0;
  c->pace.nursery = c->pace.size = n;
  c->pace.textroom = textroom(g);
  luaE_setdebt(g, -(l_mem)n);
}


/* Bytes that the heap takes up: what lua_Alloc gave, less the empty blocks. */
static size_t footprint (const luaN_Heap *h) {
  return h->blocks.held - h->blocks.vacant;
}


/* MIN_GROWTH, as it is among all states of the process. */
static size_t leastgrowth (void) {
  size_t share = GROWTHS / luaN_countstates();
  return (share > MIN_GROWTH) ? MIN_GROWTH : (share < LEAST_GROWTH) ? LEAST_GROWTH : share;
}


/* Bytes of tenured texts that are no growth. */
static size_t sparedtexts (const luaN_Gc *c) {
  size_t most = c->pace.live, share = TEXTS_MOST / luaN_countstates();
  if (c->pace.fullcycles) return 0;
  if (most < leastgrowth()) most = leastgrowth();
  if (most > share) most = share;
  if (c->bytes.texts + c->bytes.aged < most) return c->bytes.texts + c->bytes.aged;
  return (most < c->bytes.aged && c->bytes.aged <= AGED_LEAST) ? c->bytes.aged : most;
}


/* Is so much more in use than the last major collection left that another one is due? What waits for
   its finalizer's call is gone soon. */
static int hasgrown (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t spared = sparedtexts(c) + c->bytes.waiting;
  size_t total = gettotalbytes(g) + c->bytes.outside - spared;
  size_t taken = footprint(&g->heap) - spared;
  return total >= c->pace.threshold || taken >= c->pace.footprinttrigger ||
         (total >= c->pace.growthtrigger && taken >= c->pace.threshold);
}


/* Has little been tenured since the last major collection? */
static int isquiet (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  return !c->pace.fullcycles && gettotalbytes(g) < c->pace.live + c->pace.live / QUIET_PART;
}


/* What the last major collection has left, but for most of what it has marked for finalizers only,
   or not looked for. */
static size_t undoomed (const luaN_Gc *c) {
  size_t n = (size_t)c->bytes.undoomed * 1024;
  return (n < c->pace.live) ? n + (c->pace.live - n) / DOOMED_PART : c->pace.live;
}


int luaN_majordue (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t volume = spent(g) - c->pace.since;
  size_t many = FINALIZERS_MIN + c->pace.finalizers / FINALIZERS_PART;
  size_t old = c->finalize.finalizable.old;
  size_t new = (old > c->pace.finalizers) ? old - c->pace.finalizers : 0;
  uint64_t forweak = (uint64_t)(c->pace.found ? 1 : WEAK_HEAPS) * c->pace.live + MIN_GROWTH;
  size_t forfinalizers = undoomed(c);
  if (c->pace.fullcycles) volume += MIN_CYCLE_GAP;  /* bytes of resized blocks count once here */
  return hasgrown(g) || volume >= c->pace.volume ||
         (volume >= c->pace.volume / 2 && isquiet(g)) ||
         (hasmanyweak(c) && volume >= forweak) ||
         (c->weak.resurrected && volume >= forfinalizers &&
          c->finalize.next == c->finalize.tobefinalized.n) ||
         (new >= many && (c->pace.fullcycles || volume >= forfinalizers) &&
          volume / FINALIZERS_HEAPS >= (uint64_t)forfinalizers / (new / many));
}


void luaN_reclaimed (global_State *g, l_mem dead) {
  luaN_Gc *c = &g->heap.gc;
  c->pace.found = (dead >= c->bytes.old / WEAK_FOUND);
  dead -= (l_mem)(c->bytes.textsleft + c->bytes.textsbefore);  /* of no account */
  if (dead >= c->bytes.old / FOUND) c->pace.patience = PATIENCE_MIN;
  else if (!hasgrown(g) && spent(g) - c->pace.since >= c->pace.volume / 2 &&
           c->pace.patience < PATIENCE_MAX)
    c->pace.patience *= 4;  /* it was the volume that began this one */
}


/* Bytes from the end of a cycle to the next one, as upstream's pause has it. */
static uint64_t pausebytes (const global_State *g) {
  unsigned pause = luaN_pause(g);
  return (uint64_t)(g->heap.gc.pace.live / 100) * (pause > 100 ? pause - 100 : 0);
}


int luaN_cycledue (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  return isdecGCmodegen(g) || g->gcstate != GCSpause ||
         (l_mem)(spent(g) - c->pace.since) + c->pace.byhand >=
         (l_mem)pausebytes(g);
}


/* What is to be allocated before a major collection that no growth begins. */
static uint64_t volume (global_State *g, size_t live) {
  size_t least = VOLUME_MIN * leastgrowth(), heap = (live > least) ? live : least;
  size_t often = 1 + g->heap.gc.finalize.finalizable.v.n * FINALIZER_BYTES / heap;
  if (g->heap.gc.pace.fullcycles) return pausebytes(g);
  if (often > FINALIZERS_MOST) often = FINALIZERS_MOST;
  return (uint64_t)heap * g->heap.gc.pace.patience / often;
}


/* Percent of what is live that may be in use before a major collection. */
static unsigned multiple (global_State *g) {
  unsigned pause = luaN_pause(g);
  if (g->heap.gc.pace.fullcycles) return pause;
  if (luaN_isgen(g)) return 100u + luaN_majormul(g) * GROWTH_PERCENT / 100;
  return (pause > 100) ? 100u + (pause - 100) * GROWTH_PERCENT / 100 : 100u;
}


/*
** The generational multiplier bounds what the heap takes up, not only the bytes
** in use: the lines that survivors share with the dead count, once the bytes in
** use have grown enough for a collection to be worth its while. Whatever is in
** use, it is worth one when the heap takes up that much more than it did: an old
** vector that is freed by hand leaves the lines that it shared with its
** neighbours.
*/
void luaN_setpace (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t live = c->pace.live + c->pace.outside, unit = live / 100, t;
  unsigned percent = multiple(g);
  t = (percent != 0 && unit > MAX_LMEM / percent) ? MAX_LMEM : unit * percent;
  if (!c->pace.fullcycles && t < live + leastgrowth()) t = live + leastgrowth();
  c->pace.growthtrigger = c->pace.fullcycles ? t : live + (t - live) / FOOTPRINT_PART;
  c->pace.volume = volume(g, c->pace.live);
  if (c->stress.major) t = c->pace.growthtrigger = c->pace.volume = 0;
  c->pace.threshold = t;
  c->pace.footprinttrigger = t + c->pace.footprint;
}


/* Has the heap changed its size so much that what was found in it before says nothing? */
static int isother (size_t before, size_t now) {
  return now > before + before / 4 || now < before - before / 4;
}


void luaN_cycleended (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->pace.tight != 0 || g->heap.blocks.refused) {
    c->pace.tight = g->heap.blocks.vacant / 4 * 3;
    if (c->pace.tight < NURSERY_TIGHT) c->pace.tight = 0;
    g->heap.blocks.refused = 0;  /* there was no room beside what was dead */
  }
  g->heap.blocks.ceiling = 0;
  c->pace.cycles++;
  if (isother(c->pace.live, gettotalbytes(g))) c->pace.patience = PATIENCE_MIN;
  c->pace.live = gettotalbytes(g);
  c->pace.outside = c->bytes.outside;
  c->pace.footprint = footprint(&g->heap);
  c->pace.since = spent(g);
  c->bytes.textsleft = c->bytes.texts - c->bytes.textsbefore;
  c->bytes.texts = c->bytes.textsbefore = 0;
  c->pace.byhand = 0;
  c->pace.finalizers = c->finalize.finalizable.v.n;
  luaN_setpace(g);
}


size_t luaN_budgetbyhand (global_State *g, size_t bytes) {
  return bytes * luaN_stepmul(g);
}


/* What a nursery of that size, or less that was filled of it, pays for in a big heap while a
   collection hurries: as much a byte as the small ones that it has else. */
static size_t hurriedwork (size_t bytes) {
  return bytes * (MAX_BIG_SLICE / NURSERY_HURRIED);
}


size_t luaN_markbudget (global_State *g, size_t bytes) {
  size_t work = WORK_PER_BYTE * bytes;
  if (g->heap.gc.pace.fullcycles) {
    size_t whole = luaN_budgetbyhand(g, bytes);
    return (whole < MIN_STEP_WORK) ? whole : (work < MIN_STEP_WORK) ? MIN_STEP_WORK : work;
  }
  if (!luaN_isgen(g)) work = work / STEPMUL * luaN_stepmul(g);
  if (work < bytes) work = bytes;  /* or a cycle might never end */
  if (g->heap.gc.bytes.old > MIN_BIG_HEAP && work > MAX_BIG_SLICE) {
    const luaN_Gc *c = &g->heap.gc;
    size_t slice = paysmore(c) ? WEAK_SLICES * MAX_BIG_SLICE : MAX_BIG_SLICE;
    size_t hurried = ishurried(c) ? hurriedwork(bytes < c->pace.size ? bytes : c->pace.size) : 0;
    if (slice < hurried) slice = hurried;
    return (bytes > slice) ? bytes : slice;
  }
  if (paysmore(&g->heap.gc))
    work += (WEAK_WORK - 1) * WORK_PER_BYTE * (bytes < NURSERY_MAX ? bytes : NURSERY_MAX);
  return work;
}


void luaN_stackgrew (luaN_Gc *c, size_t n) {
  c->pace.bystacks += WORK_PER_BYTE * n;
}


size_t luaN_pay (luaN_Gc *c, size_t work) {
  size_t most = (c->bytes.old > MIN_BIG_HEAP) ? MAX_BIG_PAUSE_WORK : MAX_PAUSE_WORK, now, debt;
  if (c->bytes.old > MIN_BIG_HEAP && ishurried(c) && most < hurriedwork(c->pace.size))
    most = hurriedwork(c->pace.size);
  work += c->pace.owed;
  now = (work < most) ? work : most;
  if (c->pace.bystacks > OWED_BY_STACKS * c->pace.live)
    c->pace.bystacks = OWED_BY_STACKS * c->pace.live;
  debt = c->pace.live / OWED_PART + c->pace.bystacks;
  if (work - now > debt) now = work - debt;
  c->pace.owed = work - now;
  c->pace.bystacks -= (now < c->pace.bystacks) ? now : c->pace.bystacks;
  return now;
}


LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  uint64_t before = c->pace.fixednursery;
  if (g->gcstp & (GCSTPGC | GCSTPCLS)) return LUAN_ASK;  /* as lua_gc */
  if (n != LUAN_ASK) {
    c->pace.fixednursery = (n > MAX_LMEM / 2) ? MAX_LMEM / 2 : (size_t)n;
    luaN_newnursery(g);
  }
  return before;
}
