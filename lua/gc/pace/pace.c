/* SPDX-License-Identifier: MIT */
/*
** The pacer (pace.h): how large the next nursery is, when a major collection starts, and how much
** of it each pause does.
**
** Size of the nursery. Unless LUA_GC or the program sets it, the nursery has the size of the old
** objects (up to twice their size), or a 64th of all bytes that the state has allocated: the larger
** of the two, within bounds. So a state that does little stays small, and one that is large or was
** busy has a nursery that fits into a core's cache. From 256 KiB to 1 MiB there is no measurable
** difference; with 64 KiB, programs of small heaps spend a tenth of their time on holes between
** survivors.
**
** Many states. If a process has many states, the bounds are lower (down to half of the size of the
** old objects), and the bytes that a state has allocated enlarge its nursery less. All nurseries
** share the memory that a few of them would take, because idle states keep their young objects and
** old garbage in memory. The growth and the volume that start a major collection depend on the
** number of states, too.
**
** Doubling. If half of a nursery survives its collection and many old objects die, objects live a
** little longer than a nursery, as those of a queue do. A larger nursery has less to mark then. So
** the nursery is doubled up to WIDER_MOST times, except in big heaps, and in heaps with many
** objects with finalizers, because finalizers would run later.
**
** A major collection starts for one of these reasons:
**
**   growth      The bytes in use plus external bytes have grown by the allowed growth since the
**               last major collection; or the footprint has grown by more (luaN_setpace).
**   volume      The bytes allocated since the last one are so large a multiple of the live bytes
**               that marking the old objects is a small part of the work. This finds the garbage
**               of a heap that does not grow. The multiple is
**                 - four times as large after a collection that has found little, unless the
**                   heap has changed its size
**                 - half as large if the bytes in use have hardly grown
**                 - smaller if many objects have finalizers
**   finalizers  Many objects with finalizers have become old since the last one; or objects with
**               finalizers may have kept weak keys (weak.resurrected).
**   weak        Many entries of weak tables have received old keys or values. If that is so when a
**               collection starts, or becomes so while it runs, the collection hurries: it may do
**               more work for each allocated byte.
**
** In the incremental mode the volume is upstream's pause. Modes and parameters are those of the
** program, except those that an operator has set (tuning.c).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"

#include "holes.h"
#include "limit.h"
#include "optional.h"
#include "pace.h"
#include "seam.h"
#include "tuning.h"

/* The constants of the cost model (pace.h). Sizes are in bytes unless stated otherwise. */

/*
** NURSERY_MIN and NURSERY_MAX are the usual bounds of the nursery. NURSERY_MAX fits into a core's
** cache. Two other limits have the same value: the growth that a heap may always have if there are
** few states (leastgrowth), and the marking of one slice in a big heap, about a millisecond
** (bench/pauses).
**
** The nursery has the size of the old objects up to NURSERY_SMALL, and two bytes more for each
** further byte of old objects. With one byte more, the benchmark "queue" runs 2.5 times as many
** collections.
*/
#define NURSERY_MIN	((size_t)LUAN_GAP)
#define NURSERY_MAX	((size_t)512 * 1024)
#define NURSERY_SMALL	LUAN_DENSEHEAP

/* Lower limit, in bytes, of two numbers that are smaller the more states the process has: the upper
   bound of the nursery of one state (mostamong), and the growth of the heap that is always allowed
   (leastgrowth). */
#define NURSERY_FEW	((size_t)LUAN_BLOCK)

/* A state that has allocated n bytes in its life may have a nursery of n / NURSERY_PART bytes, even
   if its old objects are few, because a busy state needs a larger nursery. */
#define NURSERY_PART	64u

/* Limit of the number of doublings of the nursery. luaN_outlived doubles a nursery of at least
   NURSERY_MAX bytes if half of it has survived a minor collection. It undoes a doubling if less
   than a quarter has survived, if few old objects die (pace.found), or if FINALIZERS_MIN objects
   have finalizers. */
#define WIDER_MOST	2u

/*
** A number of bytes for all states of the process together. Each state has an equal share of SHARED
** or 2 * SHARED bytes: that number divided by the number of states. A share limits, for one state,
**   - the nursery of a busy state (SHARED; mostamong)
**   - the large leaf objects that do not count as growth of the heap (SHARED; sparedtexts)
**   - the growth of the heap that never starts a major collection (2 * SHARED; leastgrowth)
**   - the large leaf objects allocated in addition to the nursery (2 * SHARED; textroom)
*/
#define SHARED		((size_t)8 * 1024 * 1024)

/* A major collection starts when the heap has grown by this percentage of the allowed growth,
   because the program continues to allocate while the collection runs. The allowed growth is the
   generational multiplier, or the pause minus 100. Not used after the incremental mode was set. */
#define GROWTH_PERCENT	60u

/* First and largest value of the back-off pace.patience. A major collection starts when the program
   has allocated about this multiple of the live bytes since the last one, even if the heap has not
   grown. */
#define PATIENCE_MIN	2u
#define PATIENCE_MAX	128u

/* Less than one PART-th of a quantity is little. For example, a collection that finds less than one
   PART-th of the old bytes dead has found little. */
#define PART		8u

/*
** An object with a finalizer counts as FINALIZER_BYTES bytes. The larger the sum of these bytes is
** relative to the live bytes, the less allocation starts a major collection (function 'volume'),
** because only a major collection finds old objects dead. If a heap has at least FINALIZERS_MIN
** such objects, they are many (luaN_majordue, luaN_outlived).
*/
#define FINALIZER_BYTES	256u
#define FINALIZERS_MIN	32u

/*
** Weak tables have many new entries with old keys or values if there is more than one for every
** WEAK_BYTES live bytes. Then a major collection is due (luaN_majordue). If the last one has found
** at least one WEAK_FOUND-th of the old bytes dead, the next one starts after less allocation and
** may do more work at a time (paysmore). One 32nd is enough, because string keys of dead entries
** live until the entries are removed.
*/
#define WEAK_BYTES	1024u
#define WEAK_FOUND	32

/* For the incremental mode: bytes of the smallest nursery before a cycle (major collection) starts,
   and the number of bytes of allocation by which the cycle may start early (luaN_majordue). */
#define MIN_CYCLE_GAP	1024u

/*
** Number of bytes that a major collection marks for each byte that the program allocates. So the
** collection ends before the heap has grown by one WORK-th. The number also limits
**   - the work debt: one WORK-th of the live bytes
**   - large leaf objects in addition to a nursery (textroom): one WORK-th of the old bytes
**   - a collection of a heap that is not big and whose weak tables have received many entries
**     (paysmore): it may mark WORK times as much
*/
#define WORK		4


static unsigned states;		/* number of states of this process */


void luaN_addstates (int n) {
  __atomic_add_fetch(&states, (unsigned)n, __ATOMIC_RELAXED);
}


unsigned luaN_countstates (void) {
  return __atomic_load_n(&states, __ATOMIC_RELAXED);
}


size_t luaN_stepsize (global_State *g) {
  return (size_t)1 << (g->gcstepsize < (int)log2maxs(int) ? g->gcstepsize : (int)log2maxs(int));
}


/* Returns the bytes that the state has allocated in its life, as the pacer counts them: of large
   leaf objects (long strings and userdata) only one PART-th, except in the incremental mode. */
static uint64_t spent (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  if (h->gc.pace.fullcycles) return h->allocated;
  return h->allocated - h->texts / PART * (PART - 1);
}


/* Returns the upper bound of the nursery in the incremental mode, in bytes. While no major
   collection (cycle) runs, the bound is the number of bytes of allocation until one starts;
   while one runs, the number of bytes between two of its steps. */
static size_t untilcycle (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t since = spent(g) - c->pace.since;
  size_t part = (size_t)c->bytes.old / PART, least = luaN_stepsize(g);
  if (g->gcstate != GCSpause) return (part > least) ? part : least;
  return (since + MIN_CYCLE_GAP < c->pace.volume) ? (size_t)(c->pace.volume - since)
                                                  : MIN_CYCLE_GAP;
}


/* Limits the next nurseries to three quarters of the bytes that were allocated in the present
   one, as GCdebt counts them, but at least LUAN_LEASTNURSERY. To be called when lua_Alloc has
   refused memory in the present nursery. */
static void tighten (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n = (size_t)(g->GCdebt + (l_mem)(c->pace.nursery - c->pace.deferred)) / 4 * 3;
  c->pace.tight = (n > LUAN_LEASTNURSERY) ? n : LUAN_LEASTNURSERY;
  g->heap.blocks.refused = 0;
}


/* Returns the next nursery size between the two bounds that LUA_GC has set. The sizes are
   fractional parts of multiples of the golden ratio (Weyl's sequence), so they are equally
   distributed and independent of the program's rhythm. */
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


/*
** Returns 1 if weak tables have received many entries with old keys or values since the last major
** collection started. Only a major collection finds these keys and values dead, and they may retain
** any amount of memory. If no major collection has ended yet, the old bytes take the place of the
** live ones.
*/
static int hasmanyweak (const luaN_Gc *c) {
  size_t live = (c->pace.cycles != 0) ? c->pace.live : (size_t)c->bytes.old;
  return c->weak.tenured > live / WEAK_BYTES;
}


void luaN_cyclebegins (luaN_Gc *c) {
  c->pace.hurried = hasmanyweak(c);
}


/* Returns 1 if the running major collection must do more work in each slice (hurries), because
   weak tables have received many entries. */
static int ishurried (const luaN_Gc *c) {
  return c->pace.hurried || hasmanyweak(c);
}


/* Returns 1 if the running major collection may mark more for each allocated byte. That is so if
   weak tables have received many entries (ishurried), and the last major collection in slices
   has found enough of the old bytes dead (pace.found). */
static int paysmore (const luaN_Gc *c) {
  return c->pace.found && ishurried(c);
}


/* Returns the upper bound of the nursery of a big heap, in bytes. The work of the slice that
   follows each nursery is bounded. So the nursery is smaller while a major collection marks, and
   smallest while a major collection hurries (ishurried). */
static size_t mostofbig (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  if (g->gcstate != GCSpause && ishurried(c)) return NURSERY_SMALL;
  return c->mark.major ? (NURSERY_MAX / 2) : NURSERY_MAX;
}


void luaN_outlived (luaN_Gc *c, size_t bytes) {
  luaN_Pace *p = &c->pace;
  if (!luaN_has(LUAN_WIDENURSERY)) return;
  if (!p->found || c->finalize.finalizable.v.n >= FINALIZERS_MIN || bytes < p->size / 2 / 2)
    p->wider -= (p->wider > 0);
  else if (bytes >= p->size / 2 && p->size >= NURSERY_MAX && p->wider < WIDER_MOST)
    p->wider++;
}


/* Returns the upper bound of one state's nursery that follows from the number of states in the
   process. It falls with that number, because idle states keep their young objects in memory.
   'share' is the number of bytes of SHARED that belong to this state. */
static size_t mostamong (const luaN_Gc *c, size_t share) {
  size_t most = NURSERY_MAX << c->pace.wider, old = (size_t)c->bytes.old / 2;
  if (most > share && most > NURSERY_MAX) most = (share > NURSERY_MAX) ? share : NURSERY_MAX;
  if (most > 2 * share && most > old) most = (2 * share > old) ? 2 * share : old;
  return (most < NURSERY_FEW) ? NURSERY_FEW : most;
}


/*
** Returns the bytes of large leaf objects (long strings and userdata) that may be allocated in
** addition to the nursery. Returns 0 in each of these cases:
**   - the last minor collection has left no such object young
**   - a major collection runs
**   - the mode is incremental
**   - lua_Alloc has refused memory, and so limits the nursery (pace.tight)
**   - the program or the operator has set the nursery's size
*/
static size_t textroom (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t room = (size_t)c->bytes.old / (size_t)WORK, most = (2 * SHARED) / luaN_countstates();
  if (most > WORK * c->bytes.aged) most = WORK * c->bytes.aged;
  if (!luaN_has(LUAN_TEXTROOM) || g->gcstate != GCSpause || c->pace.fullcycles ||
      c->pace.tight != 0 || c->pace.fixednursery != 0 || c->pace.tuning.nursery != 0)
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
    size_t share = SHARED / luaN_countstates(), most;
    if (busy > share) busy = share;
    n = (size_t)c->bytes.old;
    if (n > NURSERY_SMALL) n += n - NURSERY_SMALL;
    if (n < busy) n = (size_t)busy;
    most = mostamong(c, share);
    n = (n < NURSERY_MIN) ? NURSERY_MIN : (n > most) ? most : n;
    most = (NURSERY_MAX / 2) << c->pace.wider;
    if (c->pace.owed > 0 && n > most) n = most;
    if (c->bytes.old > (l_mem)LUAN_BIGHEAP && n > mostofbig(g)) n = mostofbig(g);
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


/* Returns the footprint: the bytes reserved from lua_Alloc and the system, without the bytes of
   empty blocks. */
static size_t footprint (const luaN_Heap *h) {
  return h->blocks.held - h->blocks.vacant;
}


/* Returns the number of bytes by which a heap may always grow before a major collection, outside
   the incremental mode: NURSERY_MAX, or less if the process has many states. */
static size_t leastgrowth (void) {
  size_t share = (2 * SHARED) / luaN_countstates();
  return (share > NURSERY_MAX) ? NURSERY_MAX : (share < NURSERY_FEW) ? NURSERY_FEW : share;
}


/* Returns the bytes of large leaf objects (long strings and userdata) that do not count as
   growth of the heap, because most of them are freed soon. Both tenured ones and those that were
   left young are included. In the incremental mode the result is 0. */
static size_t sparedtexts (const luaN_Gc *c) {
  size_t most = c->pace.live, share = SHARED / luaN_countstates();
  if (c->pace.fullcycles) return 0;
  if (most < leastgrowth()) most = leastgrowth();
  if (most > share) most = share;
  if (c->bytes.texts + c->bytes.aged < most) return c->bytes.texts + c->bytes.aged;
  return (most < c->bytes.aged && c->bytes.aged <= 2 * NURSERY_MAX) ? c->bytes.aged : most;
}


/* Returns 1 if a major collection is due because the heap has grown: because of the bytes in use
   (with external bytes), the footprint, or both together (luaN_setpace). Two kinds of objects do
   not count, because most of them are freed soon: some large leaf objects (sparedtexts), and
   small userdata that minor collections have left young. */
static int hasgrown (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t spared = sparedtexts(c) + c->bytes.waiting;
  size_t total = gettotalbytes(g) + c->bytes.outside - spared;
  size_t taken = footprint(&g->heap) - spared;
  return total >= c->pace.threshold || taken >= c->pace.footprinttrigger ||
         (total >= c->pace.growthtrigger && taken >= c->pace.threshold);
}


/* Returns 1 if the bytes in use have grown by less than one PART-th since the last major
   collection. Always 0 in the incremental mode. */
static int isquiet (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  return !c->pace.fullcycles && gettotalbytes(g) < c->pace.live + c->pace.live / PART;
}


/* Returns the bytes that were in use when the last major collection ended. Objects that were not
   marked before the dead objects with finalizers were queued count only one PART-th of their
   bytes: most of them are retained only by queued objects, or have died while the collection
   ran. */
static size_t undoomed (const luaN_Gc *c) {
  size_t n = (size_t)c->bytes.undoomed * 1024;
  return (n < c->pace.live) ? n + (c->pace.live - n) / PART : c->pace.live;
}


int luaN_majordue (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t volume = spent(g) - c->pace.since;
  size_t many = FINALIZERS_MIN + c->pace.finalizers / PART;
  size_t old = c->finalize.finalizable.old;
  size_t new = (old > c->pace.finalizers) ? old - c->pace.finalizers : 0;
  uint64_t forweak = (uint64_t)(c->pace.found ? 1 : PATIENCE_MIN) * c->pace.live + NURSERY_MAX;
  size_t forfinalizers = undoomed(c);
  /* In the incremental mode, the collection may be due MIN_CYCLE_GAP bytes early. The reason:
     the nursery ends when GCdebt is 0, and GCdebt counts the whole size of a resized block.
     'volume' counts only its growth, so it may be smaller than planned at that time. */
  if (c->pace.fullcycles) volume += MIN_CYCLE_GAP;
  return hasgrown(g) || volume >= c->pace.volume ||
         (volume >= c->pace.volume / 2 && isquiet(g)) ||
         (hasmanyweak(c) && volume >= forweak) ||
         (c->weak.resurrected && volume >= forfinalizers &&
          c->finalize.next == c->finalize.tobefinalized.n) ||
         (new >= many && (c->pace.fullcycles || volume >= forfinalizers) &&
          volume / PATIENCE_MIN >= (uint64_t)forfinalizers / (new / many));
}


void luaN_reclaimed (global_State *g, l_mem dead) {
  luaN_Gc *c = &g->heap.gc;
  c->pace.found = (dead >= c->bytes.old / WEAK_FOUND);
  dead -= (l_mem)(c->bytes.textsleft + c->bytes.textsbefore);  /* large leaf objects do not count */
  if (dead >= c->bytes.old / (l_mem)PART) c->pace.patience = PATIENCE_MIN;
  else if (!hasgrown(g) && spent(g) - c->pace.since >= c->pace.volume / 2 &&
           c->pace.patience < PATIENCE_MAX)
    /* This collection was started by the volume of allocation and has found little garbage. */
    c->pace.patience *= 4;
}


/* Returns the bytes of allocation from the end of a cycle (a major collection) to the start of
   the next one, by upstream's parameter 'pause'. */
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


/* Returns the bytes of allocation after which a major collection is due even if the heap has not
   grown. 'live' is the number of live bytes. */
static uint64_t volume (global_State *g, size_t live) {
  size_t least = PART * leastgrowth(), heap = (live > least) ? live : least;
  size_t often = 1 + g->heap.gc.finalize.finalizable.v.n * FINALIZER_BYTES / heap;
  if (g->heap.gc.pace.fullcycles) return pausebytes(g);
  if (often > PART) often = PART;
  return (uint64_t)heap * g->heap.gc.pace.patience / often;
}


/* Returns the bytes in use at which a major collection starts, in percent of the live bytes. */
static unsigned multiple (global_State *g) {
  unsigned pause = luaN_pause(g);
  unsigned growth = luaN_tuned(g->heap.gc.pace.tuning.major, getgcparam(g->genmajormul));
  if (g->heap.gc.pace.fullcycles) return pause;
  if (luaN_isgen(g)) return 100u + growth * GROWTH_PERCENT / 100;
  return (pause > 100) ? 100u + (pause - 100) * GROWTH_PERCENT / 100 : 100u;
}


/*
** A major collection is due in each of these cases (hasgrown). The bytes in use include external
** bytes.
**   - The bytes in use have reached 'threshold'.
**   - The footprint, which includes unused lines between survivors, has reached 'threshold', and
**     the bytes in use have grown by half of the allowed growth (in the incremental mode, by all of
**     it).
**   - The footprint has grown by 'threshold' bytes since the last major collection. (Explicit frees
**     of vectors leave the lines that they share with neighbours, whatever is in use.)
*/
void luaN_setpace (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t live = c->pace.live + c->pace.outside, unit = live / 100, t;
  unsigned percent = multiple(g);
  t = (percent != 0 && unit > MAX_LMEM / percent) ? MAX_LMEM : unit * percent;
  if (!c->pace.fullcycles && t < live + leastgrowth()) t = live + leastgrowth();
  c->pace.growthtrigger = c->pace.fullcycles ? t : live + (t - live) / 2;
  c->pace.volume = volume(g, c->pace.live);
  if (c->stress.major) t = c->pace.growthtrigger = c->pace.volume = 0;
  c->pace.threshold = t;
  c->pace.footprinttrigger = t + c->pace.footprint;
}


/* Returns 1 if the heap's size has changed by more than a quarter. After such a change, the
   results of earlier collections do not predict those of the next one. */
static int isother (size_t before, size_t now) {
  return now > before + before / 4 || now < before - before / 4;
}


void luaN_cycleended (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->pace.tight != 0 || g->heap.blocks.refused) {
    c->pace.tight = g->heap.blocks.vacant / 4 * 3;
    if (c->pace.tight < LUAN_LEASTNURSERY) c->pace.tight = 0;
    g->heap.blocks.refused = 0;  /* lua_Alloc may have enough memory after the collection */
  }
  g->heap.blocks.ceiling = 0;
  c->pace.cycles++;
  if (isother(c->pace.live, gettotalbytes(g))) c->pace.patience = PATIENCE_MIN;
  c->pace.live = gettotalbytes(g);
  g->heap.blocks.cramped = 0;
  g->heap.blocks.proven = 0;
  g->heap.blocks.unchecked = g->heap.allocated + c->pace.live / 2;
  c->pace.outside = c->bytes.outside;
  c->pace.footprint = footprint(&g->heap);
  c->pace.since = spent(g);
  c->bytes.textsleft = c->bytes.texts - c->bytes.textsbefore;
  c->bytes.texts = c->bytes.textsbefore = 0;
  c->pace.byhand = 0;
  c->pace.finalizers = c->finalize.finalizable.v.n;
  luaN_setpace(g);
}


/* Returns the number of bytes that a slice must mark for 'bytes' of allocation, in a big heap
   whose major collection hurries (ishurried). The ratio is NURSERY_MAX to NURSERY_SMALL, the
   usual size of a nursery at that time. */
static size_t hurriedwork (size_t bytes) {
  return bytes * (NURSERY_MAX / NURSERY_SMALL);
}


size_t luaN_markbudget (global_State *g, size_t bytes) {
  size_t work = WORK * bytes;
  if (g->heap.gc.pace.fullcycles) {
    size_t whole = bytes * luaN_stepmul(g);
    return (whole < 2 * NURSERY_MAX) ? whole : (work < 2 * NURSERY_MAX) ? 2 * NURSERY_MAX : work;
  }
  if (!luaN_isgen(g)) work = work / LUAI_GCMUL * luaN_stepmul(g);
  if (work < bytes) work = bytes;  /* with less, a cycle might never end */
  if (g->heap.gc.bytes.old > (l_mem)LUAN_BIGHEAP && work > NURSERY_MAX) {
    const luaN_Gc *c = &g->heap.gc;
    size_t slice = paysmore(c) ? 2 * NURSERY_MAX : NURSERY_MAX;
    size_t hurried = ishurried(c) ? hurriedwork(bytes < c->pace.size ? bytes : c->pace.size) : 0;
    if (slice < hurried) slice = hurried;
    return (bytes > slice) ? bytes : slice;
  }
  if (paysmore(&g->heap.gc))
    work += (WORK - 1) * WORK * (bytes < NURSERY_MAX ? bytes : NURSERY_MAX);
  return work;
}


size_t luaN_pay (luaN_Gc *c, size_t work) {
  size_t most = (c->bytes.old > (l_mem)LUAN_BIGHEAP) ? 2 * NURSERY_MAX : 4 * NURSERY_MAX, now, debt;
  size_t bystacks = WORK * c->pace.stackgrowth;
  if (c->bytes.old > (l_mem)LUAN_BIGHEAP && ishurried(c) && most < hurriedwork(c->pace.size))
    most = hurriedwork(c->pace.size);
  work += c->pace.owed;
  now = (work < most) ? work : most;
  if (bystacks > PATIENCE_MIN * c->pace.live) bystacks = PATIENCE_MIN * c->pace.live;
  debt = c->pace.live / WORK + bystacks;
  if (work - now > debt) now = work - debt;
  c->pace.owed = work - now;
  c->pace.stackgrowth = (now < bystacks) ? (bystacks - now) / WORK : 0;
  return now;
}


LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  uint64_t before = c->pace.fixednursery;
  if (g->gcstp & (GCSTPGC | GCSTPCLS)) return LUAN_ASK;  /* lua_gc refuses, too */
  if (n != LUAN_ASK) {
    c->pace.fixednursery = (n > MAX_LMEM / 2) ? MAX_LMEM / 2 : (size_t)n;
    luaN_newnursery(g);
  }
  return before;
}
