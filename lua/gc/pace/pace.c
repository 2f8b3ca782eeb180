/* SPDX-License-Identifier: MIT */
/*
** The pacer (pace.h): size of the nursery, start of a major collection, work of each pause.
**
** Size of the nursery. Unless it is set explicitly, it is the larger of two numbers, within bounds:
** about the bytes of old objects, and a 64th of the bytes allocated in the life of the state. So a
** state that does little stays small, and a large or busy one has a nursery that fits into a core's
** cache.
**
** Many states. The more states a process has, the smaller the nursery of each, because idle states
** keep their young objects in memory. The growth and volume that start a major collection depend on
** the number of states, too.
**
** Doubling. If half of a nursery survives and many old objects die, as in a queue, objects live a
** little longer than it takes to fill a nursery. Then the nursery is doubled, up to WIDER_MOST
** times; but not in a big heap, and not if many objects have finalizers, because the finalizers
** would be called later.
**
** A major collection starts for one of these reasons:
**
**   growth      The bytes in use (with external bytes) or the footprint have grown enough since
**               the last one (luaN_setpace).
**   volume      The program has allocated a multiple of the live bytes since the last one, so
**               that marking is a small part of the work. This finds the garbage of a heap that
**               does not grow. The multiple is larger after collections that found little garbage.
**   finalizers  Many objects with finalizers have become old, or dead objects with finalizers may
**               have kept keys of weak tables.
**   weak        Many entries of weak tables have received old keys or values. The collection then
**               hurries: it does more work for each allocated byte.
**
** In the incremental mode the volume follows from upstream's parameter 'pause'. Modes and
** parameters are those of the program, unless LUA_GC sets them (tuning.c).
*/

#include "lgc.h"

#include "holes.h"
#include "optional.h"
#include "pace.h"
#include "tuning.h"

/* The constants of the cost model (pace.h). Sizes are in bytes unless stated otherwise. */

/*
** NURSERY_MIN, NURSERY_MAX: usual lower and upper bound of the nursery. NURSERY_MAX bytes fit into
** a core's cache. NURSERY_MAX is also the usual upper bound of two other numbers of bytes:
** - the bytes that one slice of a major collection marks in a big heap (luaN_markbudget), which
**   takes about a millisecond (bench/pauses)
** - the growth that every heap, however small, is allowed before a major collection starts
**   (leastgrowth)
**
** NURSERY_SMALL: the nursery has as many bytes as the old objects, up to this number. Each further
** byte of old objects adds two bytes; if it added one byte, the benchmark "queue" would run 2.5
** times as many collections.
*/
#define NURSERY_MIN	((size_t)LUAN_GAP)
#define NURSERY_MAX	((size_t)512 * 1024)
#define NURSERY_SMALL	LUAN_DENSEHEAP

/* Two numbers of bytes fall with the number of states of the process, but never below NURSERY_FEW:
   the upper bound of a state's nursery (mostamong), and the growth that every heap, however small,
   is allowed before a major collection starts (leastgrowth). */
#define NURSERY_FEW	((size_t)LUAN_BLOCK)

/* A state that has allocated n bytes in its life gets a nursery of at least n / NURSERY_PART bytes,
   unless other bounds are lower. A lower NURSERY_PART means larger nurseries. */
#define NURSERY_PART	64u

/* Largest number of doublings of the nursery. luaN_outlived doubles a nursery of at least
   NURSERY_MAX bytes if half of its bytes have survived. It undoes a doubling if less than a quarter
   have survived, if the last major collection has found few dead objects, or if many objects have
   finalizers. */
#define WIDER_MOST	2u

/*
** Bytes that the states of a process share equally: the share of each state is SHARED divided by
** their number. Upper bounds for a state:
** - one share: the nursery of a state that allocates much
** - one share: bytes of long strings and large userdata by which the heap may grow without making a
**   major collection due (sparedtexts)
** - two shares: bytes of long strings and large userdata that may be allocated between two minor
**   collections, in addition to the nursery (textroom)
** - two shares: the growth that every heap, however small, is allowed before a major collection
**   starts (leastgrowth)
*/
#define SHARED		((size_t)8 * 1024 * 1024)

/*
** A major collection starts when the heap has grown by GROWTH_PERCENT percent of the allowed
** growth. The rest is a reserve, because the program continues to allocate while the collection
** runs. A higher percentage makes major collections rarer and the heap larger.
**
** The allowed growth, in percent of the live bytes, is the multiplier of the generational mode. If
** no mode was set, it is upstream's 'pause' minus 100. If the incremental mode was set, there is no
** reserve: a collection starts when the heap has grown by 'pause' minus 100 percent.
*/
#define GROWTH_PERCENT	60u

/* Bounds of pace.patience: a major collection starts when the program has allocated about
   pace.patience times the live bytes, even if the heap has not grown. A higher maximum saves
   marking, and finds garbage later. */
#define PATIENCE_MIN	2u
#define PATIENCE_MAX	128u

/* Several rules of the pacer treat 1 / PART of a quantity as a small part of it. For example, the
   heap has hardly grown if it has grown by less than 1 / PART of the live bytes (isquiet). */
#define PART		8u

/* An object with a finalizer counts as FINALIZER_BYTES bytes. The larger the sum of these bytes in
   relation to the live bytes, the earlier a major collection starts ('volume'). Fewer than
   FINALIZERS_MIN objects with finalizers never count as many in the rules of the pacer. */
#define FINALIZER_BYTES	256u
#define FINALIZERS_MIN	32u

/*
** Weak tables count as having many new entries if more than one entry for every WEAK_BYTES live
** bytes has received an old key or value since the last major collection started. Then the next
** major collection starts after less allocation than usual. It starts even earlier, and its slices
** mark more, if the last major collection has found at least 1 / WEAK_FOUND of the old bytes dead.
**
** 1 / WEAK_FOUND is small, because a collection finds only a part of the garbage of weak tables:
** string keys of dead entries stay alive until the entries are removed.
*/
#define WEAK_BYTES	1024u
#define WEAK_FOUND	32

/* Tolerance of the incremental mode, in bytes of allocation. A cycle (major collection) starts
   already when at most MIN_CYCLE_GAP bytes are left until it is due. Until then, the nursery has at
   most the bytes that are left. */
#define MIN_CYCLE_GAP	1024u

/*
** Number of bytes that slices of a major collection mark for each allocated byte, so that the
** collection ends before the heap has grown by 1 / WORK of its size. With a higher number pauses
** are longer, and the heap grows less meanwhile.
**
** WORK also determines other bounds, such as the largest work debt (live bytes / WORK).
*/
#define WORK		4


static unsigned states;		/* number of states of the process */


void luaN_addstates (int n) {
  __atomic_add_fetch(&states, (unsigned)n, __ATOMIC_RELAXED);
}


unsigned luaN_countstates (void) {
  return __atomic_load_n(&states, __ATOMIC_RELAXED);
}


size_t luaN_stepsize (global_State *g) {
  return (size_t)1 << (g->gcstepsize < (int)log2maxs(int) ? g->gcstepsize : (int)log2maxs(int));
}


/* Returns the bytes allocated in the life of the state, as the pacer counts them. Of the bytes of
   long strings and large userdata, only 1 / PART counts, because most of these objects die young.
   In the incremental mode all bytes count. */
static uint64_t spent (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  if (h->gc.pace.fullcycles) return h->allocated;
  return h->allocated - h->texts / PART * (PART - 1);
}


/* Returns the upper bound of the nursery in the incremental mode, in bytes. Between two major
   collections: the bytes that may be allocated until the next one must start. While a major
   collection runs: the bytes to allocate between two of its slices. */
static size_t untilcycle (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  uint64_t since = spent(g) - c->pace.since;
  size_t part = (size_t)c->bytes.old / PART, least = luaN_stepsize(g);
  if (g->gcstate != GCSpause) return (part > least) ? part : least;
  return (since + MIN_CYCLE_GAP < c->pace.volume) ? (size_t)(c->pace.volume - since)
                                                  : MIN_CYCLE_GAP;
}


/* Limits the next nurseries to three quarters of the bytes that were allocated in the nursery that
   ends, because lua_Alloc has refused memory. */
static void tighten (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n = (size_t)luaN_used(g) / 4 * 3;
  c->pace.tight = (n > LUAN_LEASTNURSERY) ? n : LUAN_LEASTNURSERY;
  g->heap.blocks.refused = 0;
}


/* Returns the size of the next nursery if LUA_GC has nursery=N-M: a number between N and M. The
   sizes are those of Weyl's sequence for the golden ratio: spread evenly, and unrelated to any
   period in the program's behaviour. */
static size_t between (luaN_Pace *p) {
  p->turn = (p->turn + 2654435769u) & 0xFFFFFFFFu;
  return p->tuning.nursery +
         (size_t)((uint64_t)p->turn * (p->tuning.most - p->tuning.nursery) >> 32);
}


uint64_t luaN_charged (global_State *g, uint64_t *planned) {
  const luaN_Pace *p = &g->heap.gc.pace;
  uint64_t now = (uint64_t)luaN_used(g);
  *planned = p->planned + (now < p->size ? now : p->size);
  return p->charged + now;
}


/*
** Returns 1 if weak tables have received many entries with old keys or values since the last major
** collection started. Such entries may retain any amount of memory, and only a major collection
** finds dead ones. (Until the first major collection has ended, the live bytes are unknown; the
** bytes of old objects are used instead.)
*/
static int hasmanyweak (const luaN_Gc *c) {
  size_t live = (c->pace.cycles != 0) ? c->pace.live : (size_t)c->bytes.old;
  return c->weak.tenured > live / WEAK_BYTES;
}


void luaN_cyclebegins (luaN_Gc *c) {
  c->pace.hurried = hasmanyweak(c);
}


/* Returns 1 if the major collection must hurry, that is, do more work in each slice, because weak
   tables have received many entries. */
static int ishurried (const luaN_Gc *c) {
  return c->pace.hurried || hasmanyweak(c);
}


/* Returns 1 if slices may mark more bytes than usual for each allocated byte: weak tables have
   received many entries, and the last major collection has found at least 1 / WEAK_FOUND of the old
   bytes dead. */
static int paysmore (const luaN_Gc *c) {
  return c->pace.found && ishurried(c);
}


/* Returns the upper bound of the nursery of a big heap, in bytes. A slice of the major collection,
   with a limited amount of work, follows each nursery. With smaller nurseries, less is allocated
   until the collection ends. So the bound is lower while a major collection marks. It is lowest in
   a major collection that hurries because weak tables have received many entries, which retain
   memory until the collection has ended. */
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


/* Returns the upper bound of the nursery of one state, in bytes. It falls with the number of states
   of the process, because the nurseries of idle states stay in memory. share: bytes for each state
   if all states share SHARED bytes equally. */
static size_t mostamong (const luaN_Gc *c, size_t share) {
  size_t most = NURSERY_MAX << c->pace.wider, old = (size_t)c->bytes.old / 2;
  if (most > share && most > NURSERY_MAX) most = (share > NURSERY_MAX) ? share : NURSERY_MAX;
  if (most > 2 * share && most > old) most = (2 * share > old) ? 2 * share : old;
  return (most < NURSERY_FEW) ? NURSERY_FEW : most;
}


/*
** Returns the bytes of long strings and large userdata that may be allocated in addition to the
** nursery. Returns 0
** - in the incremental mode, and while a major collection runs
** - if all long strings and large userdata that survived the last minor collection were tenured
** - if memory is short (pace.tight), or if the nursery's size is set explicitly
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


/* Returns the footprint: reserved bytes minus the bytes of empty blocks. */
static size_t footprint (const luaN_Heap *h) {
  return h->blocks.held - h->blocks.vacant;
}


/* Returns the growth in bytes that every heap, however small, is allowed before a major collection
   starts. Does not apply to the incremental mode. */
static size_t leastgrowth (void) {
  size_t share = (2 * SHARED) / luaN_countstates();
  return (share > NURSERY_MAX) ? NURSERY_MAX : (share < NURSERY_FEW) ? NURSERY_FEW : share;
}


/* Returns how many bytes of long strings and large userdata do not count as growth of the heap,
   because most of these objects are freed soon. In the incremental mode, returns 0. */
static size_t sparedtexts (const luaN_Gc *c) {
  size_t most = c->pace.live, share = SHARED / luaN_countstates();
  if (c->pace.fullcycles) return 0;
  if (most < leastgrowth()) most = leastgrowth();
  if (most > share) most = share;
  if (c->bytes.texts + c->bytes.aged < most) return c->bytes.texts + c->bytes.aged;
  return (most < c->bytes.aged && c->bytes.aged <= 2 * NURSERY_MAX) ? c->bytes.aged : most;
}


/* Returns 1 if a major collection is due because the bytes in use or the footprint have grown to a
   limit (luaN_setpace). Some objects do not count, because most of them are freed soon: long
   strings and large userdata that became old since the last major collection or were left young, up
   to a limit (sparedtexts), and small userdata that were left young (bytes.waiting). */
static int hasgrown (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t spared = sparedtexts(c) + c->bytes.waiting;
  size_t total = gettotalbytes(g) + c->bytes.outside - spared;
  size_t taken = footprint(&g->heap) - spared;
  return total >= c->pace.threshold || taken >= c->pace.footprinttrigger ||
         (total >= c->pace.growthtrigger && taken >= c->pace.threshold);
}


/* Returns 1 if the bytes in use have grown by less than 1 / PART since the last major collection.
   In the incremental mode, returns 0. */
static int isquiet (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  return !c->pace.fullcycles && gettotalbytes(g) < c->pace.live + c->pace.live / PART;
}


/* Returns the bytes that were live when the last major collection ended. Counts only 1 / PART of
   the bytes of dead objects with finalizers, and of objects reachable only from these, because most
   of these bytes are garbage by now. */
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
  /* In the incremental mode, the nursery is sized to end when a major collection is due
     (untilcycle). It may end slightly earlier: if a block was resized, GCdebt counts all bytes of
     the new block, but 'volume' counts only the growth. So the collection is due already when at
     most MIN_CYCLE_GAP bytes of 'volume' are left. */
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
  /* Subtracts the bytes of long strings and large userdata that became old between the starts of
     the previous major collection and of this one: they do not predict how much garbage the next
     collection will find. */
  dead -= (l_mem)(c->bytes.textsleft + c->bytes.textsbefore);
  if (dead >= c->bytes.old / (l_mem)PART) c->pace.patience = PATIENCE_MIN;
  else if (!hasgrown(g) && spent(g) - c->pace.since >= c->pace.volume / 2 &&
           c->pace.patience < PATIENCE_MAX)
    /* the collection started because much was allocated ('volume'), not because the heap has grown;
       and it has found little garbage */
    c->pace.patience *= 4;
}


/* Returns the bytes of allocation from the end of a cycle to the start of the next cycle, by
   upstream's parameter 'pause'. */
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


/* Returns the bytes that may be allocated from one major collection to the next, even if the heap
   does not grow. live: live bytes. The number is lower if there are many objects with
   finalizers. */
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
** Sets the limits with which hasgrown compares the size of the heap. 'threshold' (t) is a multiple
** of the live bytes (with external bytes). A major collection is due
** - if the bytes in use (with external bytes) have reached 'threshold'
** - if the bytes in use have reached the mean of the live bytes and 'threshold', and the footprint
**   (reserved bytes without empty blocks) has reached 'threshold': the footprint includes free
**   lines between survivors
** - if the footprint has grown by 'threshold' bytes since the last major collection: explicit frees
**   of vectors can leave lines (units of 64 bytes) that are in use only in part
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


/* Returns 1 if the heap's size has changed by more than a quarter, from 'before' to 'now' bytes.
   The results of earlier collections then do not predict how much garbage the next one finds. */
static int isother (size_t before, size_t now) {
  return now > before + before / 4 || now < before - before / 4;
}


void luaN_cycleended (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->pace.tight != 0 || g->heap.blocks.refused) {
    c->pace.tight = g->heap.blocks.vacant / 4 * 3;
    if (c->pace.tight < LUAN_LEASTNURSERY) c->pace.tight = 0;
    g->heap.blocks.refused = 0;  /* lua_Alloc may have memory again */
  }
  g->heap.blocks.ceiling = g->heap.blocks.proven = g->heap.blocks.cramped = 0;
  c->pace.cycles++;
  if (isother(c->pace.live, gettotalbytes(g))) c->pace.patience = PATIENCE_MIN;
  c->pace.live = gettotalbytes(g);
  /* After a major collection, until the program has allocated an eighth of the live bytes, the heap
     grows without a check that lua_Alloc can provide more memory ('unchecked'). If the host limits
     the memory, a larger part leaves less memory to C modules near the limit, and a smaller one
     makes collections more frequent there (bench/limits). */
  g->heap.blocks.unchecked = g->heap.allocated + c->pace.live / 8;
  c->pace.outside = c->bytes.outside;
  c->pace.footprint = footprint(&g->heap);
  c->pace.since = spent(g);
  c->bytes.textsleft = c->bytes.texts - c->bytes.textsbefore;
  c->bytes.texts = c->bytes.textsbefore = 0;
  c->pace.byhand = 0;
  c->pace.finalizers = c->finalize.finalizable.v.n;
  luaN_setpace(g);
}


/* Returns the bytes that a slice of a major collection must mark for 'bytes' of allocation if the
   heap is big and weak tables have received many entries. */
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
  if (work < bytes) work = bytes;  /* with a smaller budget, a major collection might never end */
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
  if (g->gcstp & (GCSTPGC | GCSTPCLS)) return LUAN_ASK;  /* as in lua_gc */
  if (n != LUAN_ASK) {
    c->pace.fixednursery = (n > MAX_LMEM / 2) ? MAX_LMEM / 2 : (size_t)n;
    luaN_newnursery(g);
  }
  return before;
}
