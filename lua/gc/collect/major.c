/* SPDX-License-Identifier: MIT */
/*
** The major collection, in slices. Phases:
**
**   GCSpause       no major collection runs
**   GCSpropagate   marks; ends with an atomic step (GCSatomic) that resolves weak tables and
**                  selects dead objects with finalizers
**   GCSselect      only if many objects have finalizers: queues the dead ones; GCSpropagate
**                  follows again, to mark everything that they refer to
**   GCSswpallgc    removes weak entries with dead keys, then dead strings from the string table
**   GCSswpfinobj   sweeps the lists of objects that need work when they are dead (sweep.c)
**   GCSswpend      removes the marks of earlier epochs from all lines of memory
**   GCSstacks      returns unused stack memory of threads
**
** A slice runs right after a minor collection, when nothing is young and all changes have been
** visited. Dead objects stay intact until they are swept. The program can reach a dead object only
** if it is a short string, by creating an equal string (luaN_resurrect).
*/

#include "ldo.h"
#include "lgc.h"

#include "ahead.h"
#include "chunks.h"
#include "finalize.h"
#include "giveback.h"
#include "growth.h"
#include "holes.h"
#include "host.h"
#include "major.h"
#include "mark.h"
#include "pace.h"
#include "remset.h"
#include "sampling.h"
#include "scan.h"
#include "interned.h"
#include "sweep.h"
#include "termination.h"
#include "thread.h"
#include "traverse.h"
#include "waiting.h"
#include "weak.h"

/* Time to sweep the lines of one block, as a multiple of the time to mark one byte. LUAN_VISIT, the
   time to read one cache line, has the same unit. The sweep reads the LUAN_LINES mark bytes in the
   block's head. They fill LUAN_LINES / LUAN_LINE cache lines, because a cache line has 64 bytes,
   like a line of the heap (LUAN_LINE). */
#define BLOCKCOST	(LUAN_LINES / LUAN_LINE * LUAN_VISIT)

/* luaN_trimheap keeps memory for the growth of the heap: 1 / RESERVE_PART of the memory that the
   heap needs now. A larger RESERVE_PART keeps less unused memory, and requests memory more
   often. */
#define RESERVE_PART		8u

/* Bytes of empty blocks that luaN_trimheap always leaves to all states of the process together, in
   equal shares, except in a full collection. A larger value wastes more memory; a smaller one
   returns blocks and requests them again more often. */
#define MAX_SPARE_BYTES		((size_t)2 * 1024 * 1024)

/* A heap has shrunk if its live bytes have fallen by more than 1 / SHRUNK_PART since the previous
   major collection. A larger SHRUNK_PART returns memory sooner. */
#define SHRUNK_PART		4

/*
** A heap that has shrunk keeps its freed memory for one or two periods of time, because a program
** may repeatedly build something and drop it. If the memory were returned at once, the system would
** clear the same pages again and again.
**
** A period ends after LUAN_UNUSED_MS milliseconds, or earlier, when the program has allocated
** WHILE_HEAPS times the largest size of the heap that was recorded in this period or the one before
** (bytes.lately). A larger WHILE_HEAPS keeps memory longer. With a small one, a period may end
** before the largest size is recorded, because sizes are recorded only when the marking of a major
** collection ends.
**
** Exception: all states of the process share LUAN_BIGHEAP bytes equally. If a heap that has shrunk
** still uses more than its share, its size is not recorded, and its free pages are returned at the
** end of the major collection.
*/
#define WHILE_HEAPS	3u

/* A thread that does not run is shrunk only if its stack has more than 2 * BASIC_STACK_SIZE slots
   or it has more than MAX_IDLE_CALLINFOS CallInfos. A larger value saves time and keeps more unused
   memory. */
#define MAX_IDLE_CALLINFOS	16u


/* Prepares a major collection: chooses its epoch, and resets the counts of objects that the
   collection will count anew. Clears weak.resurrected if no finalizer is pending. */
static void takeepoch (luaN_Gc *c) {
  /* the one of the epochs 1, 2 and 3 that no live object has; their sum is 6 */
  lu_byte next = (lu_byte)(6 - c->mark.epoch - c->mark.previous);
  c->mark.previous = c->mark.epoch;
  c->mark.epoch = next;
  c->mark.bit = luaN_bit(next);
  luaN_cyclebegins(c);
  c->lists.fixedseen = c->finalize.seen = c->weak.tenured = 0;
  if (c->finalize.next == c->finalize.tobefinalized.n) c->weak.resurrected = 0;
  c->strings.seen = 0;
}


void luaN_beginmajor (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lua_assert(g->gcstate == GCSpause && c->bytes.aged == 0);  /* no object is young (G10) */
  takeepoch(c);
  luaN_dropidle(g);
  c->mark.reached = 0;
  c->mark.major = 1;
  g->gcstate = GCSpropagate;
  luaN_markroots(L);
}


/* To be called when everything alive is marked. Updates the counts of live and old bytes, and finds
   out whether the heap has shrunk (SHRUNK_PART). If it has not, sets bytes.needed to 'used', the
   bytes of the blocks in use, because the heap will need the same number again. If it has, sets
   bytes.needed to 0, and records 'used' in bytes.lately if this is the largest number of the
   current period (WHILE_HEAPS) and at most the state's share of LUAN_BIGHEAP. */
static void major_known (global_State *g) {
  luaN_Heap *h = &g->heap;
  luaN_Gc *c = &h->gc;
  /* Pages returned to the system ('released') are mostly in empty blocks ('vacant'), so the larger
     count is nearly that of all free bytes. The sum would count such pages twice. */
  size_t vacant = h->blocks.vacant, released = h->blocks.released;
  size_t used = h->blocks.room - (vacant > released ? vacant : released);
  size_t most = LUAN_BIGHEAP / luaN_countstates();
  int shrunk = (c->mark.reached < c->bytes.living - c->bytes.living / SHRUNK_PART);
  c->bytes.needed = shrunk ? 0 : used;
  c->bytes.shrunk = (shrunk && h->blocks.held <= most);
  if (shrunk && used / 1024 > c->bytes.lately[0] && used <= most)
    c->bytes.lately[0] = (unsigned)(used / 1024);
  c->bytes.living = c->bytes.old = c->mark.reached;
}


/* Runs the atomic step. If the step ends the marking, all objects without the current epoch are
   dead, and the sweep starts; otherwise the next slices continue to mark. To be called right after
   a minor collection, which has marked the roots. */
static void atomic (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lu_byte stopem = g->gcstopem;
  g->gcstopem = 1;
  g->gcstate = GCSatomic;
  if (!luaN_terminateslice(L)) {
    g->gcstate = (c->finalize.selection == LUAN_SELECTING) ? GCSselect : GCSpropagate;
    g->gcstopem = stopem;
    return;
  }
  lua_assert(c->mark.young.n == 0 && c->mark.old.n == 0 && c->mark.table == NULL &&
             c->mark.thread == NULL);
  c->finalize.selection = LUAN_UNSELECTED;
  luaN_reclaimed(g, c->bytes.old - c->mark.reached);
  major_known(g);
  luaN_recomputelive(g);
  c->mark.major = 0;
  c->sweep.active = 1;
  luaN_atomic(L, 1);
  luaN_dropdead(g);
  luaN_beginstrings(g);
  g->gcstate = GCSswpallgc;
  g->gcstopem = stopem;
}


/* Frees unused memory of thread th, unless th is the running thread L or has little memory
   (MAX_IDLE_CALLINFOS). If 'all' is 1, keeps nearly no unused CallInfos. Returns the cost (unit:
   the time to mark one byte). */
static size_t shrinkother (lua_State *L, lua_State *th, int all) {
  if (th == L || th->stack.p == NULL ||
      (th->stackroom <= 2 * BASIC_STACK_SIZE && th->nci <= MAX_IDLE_CALLINFOS))
    return 0;
  return luaN_shrinkthread(th, all);
}


/* Frees unused memory of the threads in lists.threads, from index sweep.next on. Stops when the
   cost has reached 'bytes' (unit: the time to mark one byte), and returns the cost. */
static size_t shrinksome (lua_State *L, size_t bytes) {
  luaN_Gc *c = &G(L)->heap.gc;
  size_t done = 0;
  while (c->sweep.next < c->lists.threads.v.n && done < bytes) {
    lua_State *th = (lua_State *)c->lists.threads.v.a[c->sweep.next++];
    done += LUAN_VISIT + shrinkother(L, th, 0);
    c->pause.looked[LUAN_LLISTED]++;
  }
  return done;
}


/* Ends the major collection: frees unused capacity of the collector's lists, and computes when the
   next major collection is due. */
static void endmajor (lua_State *L) {
  global_State *g = G(L);
  int i;
  g->gcstate = GCSpause;
  g->heap.blocks.releasing = 1;
  g->heap.blocks.next = NULL;
  for (i = 0; i < LUAN_SHRUNKVECS; i++) luaN_shrinkvec(g, luaN_vecat(g, i));
  luaN_shrinkfinalizers(g);
  if (!g->gcemergency) luaN_shrinkstrings(L);
  luaN_recomputelive(g);
  luaN_cycleended(g);
}


/* Runs one slice of the current phase of the major collection, and sets gcstate to the next phase
   if the phase has ended. bytes: the slice's budget, in bytes of marking; an atomic step may exceed
   it. Returns the slice's cost in the same unit. */
static size_t slice (lua_State *L, size_t bytes) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  switch (g->gcstate) {
    case GCSpropagate:
      if (luaN_markslice(g, bytes) && luaN_lookahead(g, bytes)) atomic(L);
      return bytes;
    case GCSselect: {
      size_t cost = luaN_selectslice(g, bytes);
      if (c->finalize.selection == LUAN_RESURRECTING) g->gcstate = GCSpropagate;
      return cost;
    }
    case GCSswpallgc: {
      unsigned n, done;
      if (c->weak.inmajor.n > 0) return luaN_clearslice(g, bytes);
      n = (unsigned)(bytes / LUAN_VISIT) + 1;
      done = luaN_sweepstrings(g, n);
      if (done == n) return bytes;
      c->sweep.list = 0;
      c->sweep.kept = c->sweep.next = 0;
      g->gcstate = GCSswpfinobj;
      return done * LUAN_VISIT;
    }
    case GCSswpfinobj: {
      size_t cost = luaN_sweepslice(L, bytes);
      if (c->sweep.list == LUAN_LISTS) {
        luaN_beginlines(&g->heap.blocks);
        g->gcstate = GCSswpend;
      }
      return cost;
    }
    case GCSswpend: {
      unsigned n = (unsigned)(bytes / BLOCKCOST) + 1;
      unsigned done = luaN_sweeplines(&g->heap.blocks, c->mark.bit, n);
      if (done == n) return bytes;
      c->sweep.active = 0;
      c->sweep.next = 0;
      g->gcstate = GCSstacks;
      /* outside the incremental mode, minor collections call luaN_shrinkown (collect.c) */
      if (c->pace.fullcycles) luaN_shrinkown(L, 0);
      return done * BLOCKCOST;
    }
    default: {
      size_t cost = shrinksome(L, bytes);
      lua_assert(g->gcstate == GCSstacks);
      if (c->sweep.next == c->lists.threads.v.n) endmajor(L);
      return cost;
    }
  }
}


/* Returns the larger of the two heap sizes in bytes.lately, in KiB. */
static unsigned latest (const luaN_Bytes *n) {
  return (n->lately[0] > n->lately[1]) ? n->lately[0] : n->lately[1];
}


/* If the current period is over, starts the next one. (Periods are defined at WHILE_HEAPS: a heap
   that has shrunk keeps its freed memory for one or two of them.) If the largest heap size recorded
   in the ended period is below that of the period before it, also allows the release of the free
   pages that were kept. */
static void major_turn (global_State *g) {
  luaN_Bytes *n = &g->heap.gc.bytes;
  unsigned now = (unsigned)(g->heap.gc.pause.began / 1000000);
  unsigned at = (unsigned)(g->heap.allocated / 1024);
  if (now - n->whilebegan < LUAN_UNUSED_MS && at - n->whileat < WHILE_HEAPS * latest(n)) return;
  if (n->lately[1] > n->lately[0]) {
    n->needed = 0;
    g->heap.blocks.releasing = 1;
    g->heap.blocks.next = NULL;
  }
  n->lately[1] = n->lately[0];
  n->lately[0] = 0;
  n->whilebegan = now;
  n->whileat = at;
}


/* Returns the bytes of blocks that luaN_trimheap must keep: the largest of three heap sizes, plus a
   reserve of 1 / RESERVE_PART of it. The first size is bytes.needed, that of the last major
   collection (0: the heap has shrunk). The other two, in bytes.lately, are the largest sizes that
   were recorded in the current period and in the one before (periods are defined at WHILE_HEAPS).
   If the current period is over, first starts the next one. */
static size_t needed (global_State *g) {
  luaN_Bytes *n = &g->heap.gc.bytes;
  size_t most;
  major_turn(g);
  most = (size_t)latest(n) * 1024;
  if (n->needed > most) most = n->needed;
  return most + most / RESERVE_PART;
}


void luaN_trimheap (global_State *g, int all) {
  luaN_Heap *h = &g->heap;
  size_t used = h->blocks.room - h->blocks.vacant, kept = all ? 0 : needed(g);
  size_t reserve = (all && g->gcemergency) ? 0 : h->gc.pace.nursery + h->blocks.room / RESERVE_PART;
  size_t spare = all ? 0 : MAX_SPARE_BYTES / luaN_countstates();
  if (kept > used && kept - used > reserve) reserve = kept - used;
  if (reserve < spare) reserve = spare;
  luaN_freeend(g, all);
  luaN_trim(g, reserve, all);
  if (h->blocks.releasing && g->gcstate == GCSpause) {
    size_t live = (size_t)h->gc.bytes.old + h->gc.bytes.aged + h->gc.bytes.waiting;
    size_t most = live + live / RESERVE_PART;
    if (most < kept) most = kept;
    most += 2 * h->gc.pace.nursery;
    if (most < live + spare) most = live + spare;
    do luaN_releasepages(g, most);
    while (all && h->blocks.releasing);
  }
  if ((all ? !g->gcemergency : (h->gc.bytes.shrunk && g->gcstate == GCSpause)) &&
      luaN_trimmalloc(g, all))
    h->gc.bytes.shrunk = 0;
}


void luaN_majorstep (lua_State *L, size_t bytes) {
  global_State *g = G(L);
  if (luaN_slicestress(&g->heap.gc) != 0) bytes = luaN_slicestress(&g->heap.gc);
  while (bytes > 0 && g->gcstate != GCSpause) {
    size_t cost = slice(L, bytes < LUAN_SLICE ? bytes : LUAN_SLICE);
    bytes -= (cost < bytes) ? cost : bytes;
  }
}


void luaN_full (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lu_byte stopem = g->gcstopem;
  int i;
  g->gcstopem = 1;
  luaN_retire(g);
  luaN_endgrowth(g);
  luaN_forgetall(L);
  c->mark.old.n = 0;  /* abandons a major collection that was running */
  if (c->mark.pending) luaN_clearbits(g, LUAN_PENDING);
  c->mark.pending = 0;
  luaN_leaveweak(g);
  /* The objects queued so far are roots, and may refer to dead objects with finalizers that are not
     queued yet. Queues those dead objects, too. */
  if (c->finalize.selection == LUAN_SELECTING) luaN_selectslice(g, MAX_SIZET);
  c->finalize.selection = LUAN_UNSELECTED;
  luaN_forgetwaiting(g);
  c->mark.table = NULL;
  c->mark.thread = NULL;
  takeepoch(c);
  c->mark.reached = 0;
  c->mark.major = 1;
  c->sweep.active = 0;
  g->gcstate = GCSatomic;
  if (g->heap.unanchored != NULL)
    luaN_marklines(g, g->heap.unanchored, g->heap.unanchoredsize);
  luaN_markroots(L);
  luaN_markfinalized(g, MAX_SIZET);
  luaN_terminate(L);
  major_known(g);
  c->mark.major = 0;
  luaN_atomic(L, 1);
  luaN_sweeplists(L);
  luaN_sweepallstrings(g);
  luaN_recycle(&g->heap.blocks);
  luaN_beginlines(&g->heap.blocks);
  luaN_sweeplines(&g->heap.blocks, c->mark.bit, ~0u);
  for (i = 0; g->gcemergency && i < LUAN_EMPTYVECS; i++) luaN_freevec(g, luaN_vecat(g, i));
  luaN_keepdirty(L);
  g->gcstate = GCSpause;
  if (!g->gcemergency) {
    size_t k;
    luaN_shrinkown(L, 1);
    for (k = 0; k < c->lists.threads.v.n; k++)
      shrinkother(L, (lua_State *)c->lists.threads.v.a[k], 1);
  }
  c->bytes.textsbefore = c->bytes.texts;  /* so luaN_cycleended sets textsleft to 0 */
  endmajor(L);
  c->bytes.alltenured += c->bytes.tenured;
  c->bytes.tenured = 0;
  g->gcstopem = stopem;
}
