/* SPDX-License-Identifier: MIT */
/*
** The pacer (pace.h): how large the next nursery is, when a major collection starts, and how much
** of it a step pays for.
**
** Unless LUA_GC or the program sets its size, a nursery has the size of the old objects (up to
** twice their size; half of their size if the process has many states) or a 64th of all that the
** state has allocated: the larger, within bounds. So a state that does little stays small, and one
** that is large or was busy has a nursery that fits into a core's cache. (From 256 KiB to 1 MiB
** there is no measurable difference; with 64 KiB, programs of small heaps spend a tenth of their
** time on holes between survivors.) If a process has many states, being busy counts for less: all
** nurseries share the memory that a few of them would take, because idle states keep their young
** objects and old garbage in memory. The growth and the volume that start a major collection depend
** on the number of states, too. If half of a nursery survives its collection and many old objects
** die, objects live a little longer than a nursery, as those of a queue do, and a larger nursery
** has less to mark: the nursery is doubled up to WIDER_MOST times, in heaps that are not big and
** have few objects with finalizers, because finalizers would run later.
**
** A major collection starts for one of these reasons:
**
**   growth      The bytes in use plus external bytes have grown by the allowed growth
**               since the last major collection, or the footprint by more
**               (luaN_setpace).
**   volume      The bytes allocated since the last one are so large a multiple of the
**               live bytes that marking the old objects is a small part of the work.
**               The collection finds the garbage of a heap that does not grow. If it
**               finds little, the next one comes after four times the volume, unless
**               the heap has changed its size. Half of the volume is enough if the
**               bytes in use have hardly grown, and a part of it if many objects have
**               finalizers.
**   finalizers  Many objects with finalizers have become old since the last one; or
**               objects with finalizers may have kept weak keys (weak.resurrected).
**   weak        Many entries of weak tables have received old keys or values. A
**               collection hurries if many have at its start, or do while it runs.
**
** In the incremental mode the volume is upstream's pause. Modes and parameters are the program's,
** except those that an operator has set (tuning.c).
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

/* The constants of the cost model (pace.h). Sizes are in bytes. */

/* NURSERY_MIN and NURSERY_MAX: usual bounds of the nursery. NURSERY_MAX fits into a core's cache;
   it is also the growth that a heap may always have if the process has few states, and the usual
   marking of one slice in a big heap, about a millisecond (bench/pauses). Within the bounds, up to
   NURSERY_SMALL bytes of old objects have a nursery of their size; for each further byte the
   nursery has two more: with one more, the benchmark "queue" runs 2.5 times as many collections. */
#define NURSERY_MIN	((size_t)LUAN_GAP)
#define NURSERY_MAX	((size_t)512 * 1024)
#define NURSERY_SMALL	LUAN_DENSEHEAP

/* However many states a process has, the upper bound of a nursery and the growth that a heap may
   always have are at least this: a block. */
#define NURSERY_FEW	((size_t)LUAN_BLOCK)

/* A state that has allocated n bytes in its life may have a nursery of n / NURSERY_PART bytes, so
   that a busy state gets a larger one. */
#define NURSERY_PART	64u

/* Largest number of times that the nursery is doubled: if half of it has survived a minor
   collection and the other conditions of luaN_outlived hold. One doubling is undone if less than a
   quarter has survived, if few old objects die, or if many objects have finalizers. */
#define WIDER_MOST	2u

/* Bytes that are divided among all states of the process. Two things have SHARED bytes each: the
   nurseries of busy states, and the large leaf objects that do not count as growth (sparedtexts).
   Two have twice as many: growth that is always allowed (leastgrowth), and large leaf objects
   allocated in addition to the nursery (textroom). */
#define SHARED		((size_t)8 * 1024 * 1024)

/* Percent of the allowed growth (the generational multiplier, or the pause above 100) that is used
   before a major collection; the rest is for allocation while it runs. Not used after the
   incremental mode was set. */
#define GROWTH_PERCENT	60u

/* Volume before a major collection, in heaps (pace.patience): at first, and at most. */
#define PATIENCE_MIN	2u
#define PATIENCE_MAX	128u

/* Less than one PART-th of a quantity is little of it: for example, a collection that finds less
   than one PART-th of the old bytes dead has found little. */
#define PART		8u

/* Finalizable objects of FINALIZER_BYTES bytes each, relative to the live bytes, shorten the volume
   (volume), because one that dies old waits for a major collection. Fewer than FINALIZERS_MIN new
   ones are never many. */
#define FINALIZER_BYTES	256u
#define FINALIZERS_MIN	32u

/* New entries of weak tables with old keys or values are many if there is more than one for every
   WEAK_BYTES live bytes. The next collection for them comes after less allocation (luaN_majordue)
   and may do more work at a time (paysmore) if the last one found one WEAK_FOUND-th of the old
   bytes dead: a small part, because string keys live until their entries are removed. */
#define WEAK_BYTES	1024u
#define WEAK_FOUND	32

/* Bytes of the smallest nursery before a cycle of the incremental mode. A cycle may also start this
   number of bytes early (luaN_majordue). */
#define MIN_CYCLE_GAP	1024u

/* Bytes of marking for each allocated byte; so a collection ends before the heap has grown by one
   WORK-th. Also: the work debt may be one WORK-th of the live bytes; large leaf objects in addition
   to a nursery (textroom) may be one WORK-th of the old bytes; a hurried collection of a heap that
   is not big may mark WORK times as much (paysmore). */
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


/* Returns the bytes that the state has allocated; of those in large leaf objects only one PART-th,
   except in the incremental mode. */
static uint64_t spent (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  if (h->gc.pace.fullcycles) return h->allocated;
  return h->allocated - h->texts / PART * (PART - 1);
}


/* Returns the upper bound of the nursery in the incremental mode: the bytes of allocation until a
   cycle starts or, while one runs, between two of its steps. */
static size_t untilcycle (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t since = spent(g) - c->pace.since;
  size_t part = (size_t)c->bytes.old / PART, least = luaN_stepsize(g);
  if (g->gcstate != GCSpause) return (part > least) ? part : least;
  return (since + MIN_CYCLE_GAP < c->pace.volume) ? (size_t)(c->pace.volume - since)
                                                  : MIN_CYCLE_GAP;
}


/* Bounds the next nurseries by three quarters of the bytes that the present one was charged with
   (at least LUAN_LEASTNURSERY), because lua_Alloc has refused memory during the present one. */
static void tighten (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n = (size_t)(g->GCdebt + (l_mem)(c->pace.nursery - c->pace.deferred)) / 4 * 3;
  c->pace.tight = (n > LUAN_LEASTNURSERY) ? n : LUAN_LEASTNURSERY;
  g->heap.blocks.refused = 0;
}


/*
** Returns a nursery size between the two bounds of LUA_GC. The sizes are equally distributed and
** independent of the program's rhythm: fractional parts of multiples of the golden ratio (Weyl's
** sequence).
*/
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
** Returns 1 if weak tables have received many old keys or values since the last major collection
** started. Only major collections find these dead; their entries may retain any amount of memory.
** If no major collection has ended yet, the old bytes represent the live ones.
*/
static int hasmanyweak (const luaN_Gc *c) {
  size_t live = (c->pace.cycles != 0) ? c->pace.live : (size_t)c->bytes.old;
  return c->weak.tenured > live / WEAK_BYTES;
}


void luaN_cyclebegins (luaN_Gc *c) {
  c->pace.hurried = hasmanyweak(c);
}


/* Returns 1 if the running major collection hurries. */
static int ishurried (const luaN_Gc *c) {
  return c->pace.hurried || hasmanyweak(c);
}


/* Returns 1 if slices of the running major collection do more work for each allocated byte: if it
   hurries and the last one that ran in slices has found enough dead. */
static int paysmore (const luaN_Gc *c) {
  return c->pace.found && ishurried(c);
}


/* Returns the upper bound of the nursery of a big heap, whose slices are bounded. */
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


/*
** Returns the upper bound of the nursery by the number of states in the process; 'share' is the
** state's share of SHARED. Idle states keep their young objects in memory, so the bound falls with
** that number.
*/
static size_t mostamong (const luaN_Gc *c, size_t share) {
  size_t most = NURSERY_MAX << c->pace.wider, old = (size_t)c->bytes.old / 2;
  if (most > share && most > NURSERY_MAX) most = (share > NURSERY_MAX) ? share : NURSERY_MAX;
  if (most > 2 * share && most > old) most = (2 * share > old) ? 2 * share : old;
  return (most < NURSERY_FEW) ? NURSERY_FEW : most;
}


/*
** Returns the bytes of large leaf objects that may be allocated in addition to the nursery. Returns
** 0 in each of these cases: the last minor collection has left none of them young; a major
** collection runs; the mode is incremental; pace.tight bounds the nursery; the program or the
** operator has set the nursery's size.
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


/* Returns the footprint: reserved bytes without empty blocks. */
static size_t footprint (const luaN_Heap *h) {
  return h->blocks.held - h->blocks.vacant;
}


/* Returns the bytes by which a heap may always grow outside the incremental mode: NURSERY_MAX, or
   less if the process has many states. */
static size_t leastgrowth (void) {
  size_t share = (2 * SHARED) / luaN_countstates();
  return (share > NURSERY_MAX) ? NURSERY_MAX : (share < NURSERY_FEW) ? NURSERY_FEW : share;
}


/* Returns the bytes of tenured and young large leaf objects that do not count as growth. */
static size_t sparedtexts (const luaN_Gc *c) {
  size_t most = c->pace.live, share = SHARED / luaN_countstates();
  if (c->pace.fullcycles) return 0;
  if (most < leastgrowth()) most = leastgrowth();
  if (most > share) most = share;
  if (c->bytes.texts + c->bytes.aged < most) return c->bytes.texts + c->bytes.aged;
  return (most < c->bytes.aged && c->bytes.aged <= 2 * NURSERY_MAX) ? c->bytes.aged : most;
}


/*
** Returns 1 if a major collection is due because of the bytes in use (with external bytes), the
** footprint, or both together. Some large leaf objects (sparedtexts) do not count, and small
** userdata that were left young do not, because most are freed soon.
*/
static int hasgrown (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t spared = sparedtexts(c) + c->bytes.waiting;
  size_t total = gettotalbytes(g) + c->bytes.outside - spared;
  size_t taken = footprint(&g->heap) - spared;
  return total >= c->pace.threshold || taken >= c->pace.footprinttrigger ||
         (total >= c->pace.growthtrigger && taken >= c->pace.threshold);
}


/* Returns 1 if the bytes in use have grown by less than one PART-th since the last major
   collection; 0 in the incremental mode. */
static int isquiet (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  return !c->pace.fullcycles && gettotalbytes(g) < c->pace.live + c->pace.live / PART;
}


/* Returns the bytes in use when the last major collection ended; of those that were not marked
   before the selection of dead objects with finalizers, only one PART-th: most of these are kept
   only by finalizers, or have died while the collection ran. */
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
  /* nurseries end early: GCdebt counts the whole size of resized blocks, spent() their growth */
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
    c->pace.patience *= 4;  /* this collection was started by the volume and has found little */
}


/* Returns the bytes from the end of a cycle to the next one, by upstream's pause. */
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
   grown. */
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
** A major collection is due if the bytes in use (here always with external bytes) reach
** 'threshold'; or if the footprint, which includes unused lines between survivors, reaches
** 'threshold' and the bytes in use have grown by half of the allowed growth (in the incremental
** mode, by all of it); or if the footprint has grown by 'threshold' bytes, whatever is in use: a
** vector that was freed explicitly leaves lines that it shared with its neighbours.
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


/* Returns 1 if the heap's size has changed by more than a quarter, so that results of earlier
   collections do not apply. */
static int isother (size_t before, size_t now) {
  return now > before + before / 4 || now < before - before / 4;
}


void luaN_cycleended (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->pace.tight != 0 || g->heap.blocks.refused) {
    c->pace.tight = g->heap.blocks.vacant / 4 * 3;
    if (c->pace.tight < LUAN_LEASTNURSERY) c->pace.tight = 0;
    g->heap.blocks.refused = 0;  /* the collection may have freed enough */
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


/*
** Returns the bytes of marking that a nursery of 'bytes' pays for in a big heap while a collection
** hurries. The usual nursery at that time, NURSERY_SMALL bytes, pays for a slice of NURSERY_MAX
** bytes; others pay in proportion.
*/
static size_t hurriedwork (size_t bytes) {
  return bytes * (NURSERY_MAX / NURSERY_SMALL);
}


size_t luaN_markbudget (global_State *g, size_t bytes) {
  size_t work = WORK * bytes;
  if (g->heap.gc.pace.fullcycles) {
    size_t whole = luaN_budgetbyhand(g, bytes);
    return (whole < 2 * NURSERY_MAX) ? whole : (work < 2 * NURSERY_MAX) ? 2 * NURSERY_MAX : work;
  }
  if (!luaN_isgen(g)) work = work / LUAI_GCMUL * luaN_stepmul(g);
  if (work < bytes) work = bytes;  /* otherwise a cycle might never end */
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
  if (g->gcstp & (GCSTPGC | GCSTPCLS)) return LUAN_ASK;  /* as lua_gc */
  if (n != LUAN_ASK) {
    c->pace.fixednursery = (n > MAX_LMEM / 2) ? MAX_LMEM / 2 : (size_t)n;
    luaN_newnursery(g);
  }
  return before;
}
