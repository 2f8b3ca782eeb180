/* SPDX-License-Identifier: MIT */
/* Measures the resident memory of the process (resident.h). */
#define _GNU_SOURCE
#include "resident.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "clock.h"
#include "list.h"
#include "own.h"
#include "mappings.h"

/* A snapshot is due this time (ns) after the last one, even if memory has not changed. */
#define LONG		(60 * CLOCK_SECOND)
/* In this time (ns) after the start of a profile, only the end of a state causes a snapshot. */
#define YOUNG		(CLOCK_SECOND / 50)
/* At the end of a state, a change of the process's resident size can make a snapshot due. A reading
   of that size is reused if it is at most this old (ns), because each reading takes time. */
#define LAST_NS		1000000
/* A heap that has grown or shrunk by less than this size (bytes) is not measured before the time
   Resident.due. */
#define SMALL		(64u << 10)
#define LINES		256u	/* largest number of rows with a source line, for each of the uses
                                   "free" and "alloc" of memory */
/* At the end of a state, a snapshot is due if the time since the last one is at least ENDING times
   the CPU time of the last measurement of a heap. So these snapshots take at most about 1 / ENDING
   of the time. */
#define ENDING		100u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Resident *all;
/* 'first': time of the first measurement, ns; 'spent': CPU time of all measurements and their
   snapshots, ns. */
static uint64_t first, spent;
static uint64_t drawn;	/* CPU time of all snapshots, ns */

/* Native memory that outlived its state, by the source line that allocated the memory. The last
   element is for all further lines. A thread that holds the lock may reuse an element with 0 bytes
   for another line. */
static struct {
  int64_t bytes;		/* atomic */
  char where[sizeof(((ResidentRow *)0)->text)];
} left[LINES + 1];
static unsigned nleft;

typedef struct Rows {
  ResidentRow *all;
  size_t n, size;
} Rows;

static void resident_put (Rows *r, const char *what, int64_t bytes, const char *text) {
  ResidentRow *row;
  if (bytes == 0 || !list_grow(&r->all, r->n, &r->size, sizeof(*r->all))) return;
  row = &r->all[r->n++];
  row->what = what;
  row->bytes = bytes;
  snprintf(row->text, sizeof(row->text), "%s", text);
}

/* Returns the first row, from index 'from' on, whose field 'text' equals 'text'; NULL: none. */
static ResidentRow *resident_find (const Rows *r, size_t from, const char *text) {
  size_t i;
  for (i = from; i < r->n; i++)
    if (strncmp(r->all[i].text, text, sizeof(r->all[i].text) - 1) == 0) return &r->all[i];
  return NULL;
}

/* Adds bytes to the row of the source line 'where'; adds a row if needed. The rows from index
   'from' on are those of source lines. If there are LINES such rows already, further lines share
   the row whose text is "". */
static void putline (Rows *r, size_t from, const char *what, uint64_t bytes, const char *where) {
  ResidentRow *row = resident_find(r, from, where);
  if (row == NULL && r->n - from >= LINES) row = resident_find(r, from, where = "");
  if (row != NULL) row->bytes += (int64_t)bytes;
  else resident_put(r, what, (int64_t)bytes, where);
}

static void putlines (Rows *r, int sort, const char *what) {
  const Resident *s;
  size_t i, from = r->n;
  for (s = all; s != NULL; s = s->next) {
    const Footprint *f = &s->footprint;
    for (i = 0; i < f->n[sort]; i++) putline(r, from, what, f->lines[sort][i].bytes,
                                             f->lines[sort][i].where);
    if (f->rest[sort] > 0) putline(r, from, what, f->rest[sort], "");
  }
  for (i = 0; sort == FOOTPRINT_NATIVE && i <= nleft; i++) {
    const size_t line = (i < nleft) ? i : LINES;
    int64_t bytes = __atomic_load_n(&left[line].bytes, __ATOMIC_RELAXED);
    if (bytes > 0) putline(r, from, what, (uint64_t)bytes, left[line].where);
  }
}

unsigned resident_left (const char *where, uint64_t bytes) {
  unsigned i, at = LINES;
  pthread_mutex_lock(&lock);
  for (i = 0; i < nleft; i++) {
    if (strncmp(left[i].where, where, sizeof(left[i].where) - 1) == 0) break;
    if (at == LINES && __atomic_load_n(&left[i].bytes, __ATOMIC_RELAXED) == 0) at = i;
  }
  if (i < nleft) at = i;
  else {
    if (at == LINES && nleft < LINES) at = nleft++;
    if (at < LINES) snprintf(left[at].where, sizeof(left[at].where), "%s", where);
  }
  __atomic_add_fetch(&left[at].bytes, (int64_t)bytes, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
  return at;
}

void resident_freed (unsigned line, uint64_t bytes) {
  __atomic_sub_fetch(&left[line].bytes, (int64_t)bytes, __ATOMIC_RELAXED);
}

/* Adds up the last measurement (Footprint) of each state. Lock held. All results are in bytes.
   *p         sums of the fields of luaN_Places, the bytes of each part of a heap
   *living    live objects; for each state at most its bytes in use
   *resident  resident memory of the heaps
   *outside   external bytes
   *since     bytes that the heaps reserve now, minus those that they reserved when measured */
static void resident_places (luaN_Places *p, uint64_t *living, uint64_t *resident,
                             uint64_t *outside, int64_t *since) {
  const Resident *s;
  memset(p, 0, sizeof(*p));
  *living = *resident = *outside = 0;
  *since = 0;
  for (s = all; s != NULL; s = s->next) {
    const luaN_Places *q = &s->footprint.places;
    p->inuse += q->inuse;
    p->chunks += q->chunks;
    p->lent += q->lent;
    p->heads += q->heads;
    p->lines += q->lines;
    p->unused += q->unused;
    p->large += q->large;
    p->lists += q->lists;
    *living += (q->living < q->inuse) ? q->living : q->inuse;
    *resident += s->footprint.resident;
    *outside += s->footprint.outside;
    *since += (int64_t)(__atomic_load_n(&s->held, __ATOMIC_RELAXED) - s->measured);
  }
}

/* Subtracts bytes that are reserved, but not resident, from the bytes of a row. *untouched: number
   of such bytes that are not subtracted yet. Subtracts the smaller of *row and *untouched from
   both; does nothing if the smaller is not above 0. */
static void resident_take (int64_t *row, int64_t *untouched) {
  int64_t n = (*row < *untouched) ? *row : *untouched;
  if (n <= 0) return;
  *row -= n;
  *untouched -= n;
}

typedef struct Lua {
  int64_t old, young, gaps, unused, reserve, since;
} Lua;

/* Subtracts bytes that are not resident from Lua's rows: first from reserved and unused memory,
   where they most likely are, last from old objects. */
static void takelua (Lua *l, int64_t *untouched) {
  resident_take(&l->reserve, untouched);
  resident_take(&l->unused, untouched);
  resident_take(&l->young, untouched);
  resident_take(&l->gaps, untouched);
  resident_take(&l->old, untouched);
}

/* Subtracts the profiler's bytes *own from *native, the bytes of the program and the profiler. If
   *own is above *native, first reduces *own to *native, but not below 0. */
static void split (int64_t *native, int64_t *own) {
  if (*own > *native) *own = *native > 0 ? *native : 0;
  *native -= *own;
}

/* Computes the rows of all Lua heaps: old objects, young objects, gaps between objects, and unused
   memory. The remaining resident bytes of the heaps become the row 'reserve'. */
static void luarows (Lua *l, const luaN_Places *p, uint64_t living, uint64_t resident) {
  int64_t untouched;
  l->since = 0;
  l->old = (int64_t)living;
  l->young = (int64_t)(p->inuse - living);
  l->gaps = (int64_t)(p->heads + p->lines + p->large) - (int64_t)p->inuse;
  /* The gaps can be negative: the heap's blocks ('heads', 'lines', 'large') do not include the
     lua_State itself, but 'inuse', the bytes of live and young objects, does. */
  if (l->gaps < 0) {
    untouched = -l->gaps;
    l->gaps = 0;
    resident_take(&l->young, &untouched);
    resident_take(&l->old, &untouched);
  }
  l->unused = (int64_t)p->unused;
  l->reserve = (int64_t)(resident + p->lent) - (int64_t)(p->heads + p->lines + p->unused);
  /* 'reserve' can be negative: the parts of the heaps' blocks that were subtracted from the
     resident bytes (their heads, used and unused lines) include the ends of blocks, which may not
     be resident. */
  if (l->reserve < 0) {
    untouched = -l->reserve;
    l->reserve = 0;
    takelua(l, &untouched);
  }
}

/* The rows of a snapshot for the resident memory that is not in Lua heaps, bytes. */
typedef struct Native {
  int64_t native, unused, others, own;
} Native;

/*
** Computes the rows of native memory, without Lua heaps. Returns the number of bytes that are not
** resident and that the caller must subtract from Lua's rows.
**
** With glibc's malloc, subtracts the bytes of malloc that are not resident: first from the row of
** free memory, then from the profiler's row, then from the program's. With another malloc, the
** bytes in use are unknown: the row 'native' then has all of the mapping [heap] and of the
** anonymous mappings.
*/
static int64_t nativerows (Native *v, const Mappings *s, const MappingsMalloc *m,
                           const luaN_Places *p, uint64_t resident) {
  int64_t lua = (int64_t)(p->large + p->lists + p->lent), untouched = 0;
  v->others = (int64_t)s->anonymous - (int64_t)resident;
  /* If glibc's malloc has less memory in use than Lua's heaps have from malloc, the program uses
     another malloc. */
  if (m->inuse < p->large + p->lists) {
    v->native = (int64_t)s->heap + v->others - lua;
    split(&v->native, &v->own);
    v->others = 0;
  }
  else {
    int64_t mapped = (int64_t)m->mapped +
                     (m->arenas > s->heapsize ? (int64_t)(m->arenas - s->heapsize) : 0);
    untouched = (int64_t)s->heapsize - (int64_t)s->heap;
    if (mapped > v->others) {
      untouched += mapped - v->others;
      mapped = v->others;
    }
    if (m->arenas < s->heapsize)  /* code other than malloc uses a part of the mapping [heap] */
      v->others += (int64_t)(s->heapsize - m->arenas);
    v->others -= mapped;
    v->native = (int64_t)m->inuse - lua;
    split(&v->native, &v->own);
    v->unused = (int64_t)m->unused;
    resident_take(&v->unused, &untouched);
    resident_take(&v->own, &untouched);
    resident_take(&v->native, &untouched);
  }
  if (v->native < 0) {
    untouched -= v->native;
    v->native = 0;
  }
  return untouched;
}

/* Adds to r the rows of the snapshot. 'lists': bytes of the collector's lists. 'known' 0: the
   process's mappings could not be read, so their rows are left out. */
static void putrows (Rows *r, const Lua *l, const Native *v, uint64_t lists, const Mappings *s,
                     int known) {
  size_t i;
  resident_put(r, "rss", (int64_t)s->rss, "");
  resident_put(r, "lua.old", l->old, "");
  resident_put(r, "lua.new", l->young, "");
  resident_put(r, "lua.gaps", l->gaps, "");
  resident_put(r, "lua.free", l->unused, "");
  resident_put(r, "lua.reserve", l->reserve, "");
  resident_put(r, "lua.lists", (int64_t)lists, "");
  resident_put(r, "lua.since", l->since, "");
  resident_put(r, "native", v->native, "");
  resident_put(r, "profiler", v->own, "");
  resident_put(r, "native.free", v->unused, "");
  resident_put(r, "mapped", v->others, "");
  if (!known) return;
  resident_put(r, "stacks", (int64_t)s->stacks, "");
  for (i = 0; i < s->nfiles; i++)
    resident_put(r, "file", (int64_t)s->files[i].bytes, s->files[i].name);
  resident_put(r, "system", (int64_t)s->system, "");
}

/* Makes the rows of a snapshot of resident memory. */
static void resident_fill (Rows *r) {
  luaN_Places p;
  Mappings s;
  MappingsMalloc m;
  Lua l;
  Native v = {0, 0, 0, 0};
  uint64_t living, resident, outside;
  int64_t since, untouched;
  int known = mappings_read(&s);
  mappings_malloc(&m);
  resident_places(&p, &living, &resident, &outside, &since);
  if (since < 0) resident -= ((uint64_t)-since < resident) ? (uint64_t)-since : resident;
  luarows(&l, &p, living, resident);
  if (known) {
    v.own = (int64_t)own_bytes();
    untouched = nativerows(&v, &s, &m, &p, resident);
    takelua(&l, &untouched);
    /* Memory that Lua has reserved since the last measurements was counted as v.others (chunks) and
       v.native (large vectors). Moves it to the row "lua.since". */
    if (since > 0) {
      untouched = since;
      resident_take(&v.others, &untouched);
      resident_take(&v.native, &untouched);
      l.since = since - untouched;
    }
  }
  putrows(r, &l, &v, p.lists, &s, known);
  resident_put(r, "outside", (int64_t)outside, "");
  putlines(r, FOOTPRINT_FREE, "free");
  putlines(r, FOOTPRINT_NATIVE, "alloc");
}

ResidentRow *resident_rows (size_t *n) {
  Rows r = {NULL, 0, 0};
  pthread_mutex_lock(&lock);
  resident_fill(&r);
  pthread_mutex_unlock(&lock);
  *n = r.n;
  return r.all;
}

/* Returns 1 if the CPU time of all snapshots is at most 1 / PICTURES_SHARE of the time since the
   first measurement. */
static int mayhave (uint64_t now) {
  uint64_t since = __atomic_load_n(&first, __ATOMIC_RELAXED);
  return __atomic_load_n(&drawn, __ATOMIC_RELAXED) <= clock_between(since, now) / PICTURES_SHARE;
}

/* Returns 1 if a snapshot is due (RQ3). 'last' not 0: the state or profile ends. */
static int isdue (const ResidentPolicy *p, uint64_t now, uint64_t rss, int last) {
  uint64_t change = (rss > p->rss) ? rss - p->rss : p->rss - rss;
  uint64_t least = (last || mayhave(now)) ? p->rss / 16 : p->rss / 4;
  return p->reported == 0 || now - p->reported >= LONG || change > least ||
         last == RESIDENT_PROFILE || (last && now - p->reported >= ENDING * p->cost);
}

/* Calls isdue with the lock held, because several threads use a policy, and returns its result.
   'claims' 1: the caller emits the snapshot if it is due, so it is not due at the next call. */
static int claimdue (ResidentPolicy *p, uint64_t now, uint64_t rss, int last, int claims) {
  int yes;
  pthread_mutex_lock(&lock);
  yes = isdue(p, now, rss, last);
  if (yes && claims) {
    p->reported = now;
    p->rss = rss;
  }
  pthread_mutex_unlock(&lock);
  return yes;
}

/* Returns 1 in the first YOUNG ns of a profile. If p->started is 0, sets it to 'now'. */
static int isyoung (ResidentPolicy *p, uint64_t now) {
  uint64_t started = 0;
  if (__atomic_compare_exchange_n(&p->started, &started, now, 0, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    return 1;
  return clock_between(started, now) < YOUNG;
}

static void resident_emit (ProfileState *state, uint64_t now) {
  uint64_t started = clock_thread();
  size_t i, n;
  ResidentRow *rows = resident_rows(&n);
  for (i = 0; i < n; i++)
    profile_resident(state, now, rows[i].what, rows[i].bytes, rows[i].text);
  free(rows);
  __atomic_add_fetch(&drawn, clock_between(started, clock_thread()), __ATOMIC_RELAXED);
}

/* Returns 1 if another measurement of a heap is allowed: the CPU time of all measurements so far,
   of all states, is at most RESIDENT_FREE ns plus 1 / RESIDENT_ALL of the time since the first
   measurement. */
static int isallowed (uint64_t now) {
  uint64_t since = __atomic_load_n(&first, __ATOMIC_RELAXED);
  if (since == 0) __atomic_store_n(&first, since = now, __ATOMIC_RELAXED);
  return __atomic_load_n(&spent, __ATOMIC_RELAXED) <=
         RESIDENT_FREE + clock_between(since, now) / RESIDENT_ALL;
}

/* Adds the state to the list. Lock held. */
static void enlist (Resident *r) {
  if (r->listed) return;
  r->next = all;
  r->before = NULL;
  if (all != NULL) all->before = r;
  all = r;
  r->listed = 1;
}

void resident_join (Resident *r) {
  pthread_mutex_lock(&lock);
  enlist(r);
  pthread_mutex_unlock(&lock);
}

/* Returns 1 if a measurement of the state's resident bytes is due. 'held': bytes that the state's
   heap reserves now. */
static int isstale (const Resident *r, uint64_t now, uint64_t held) {
  return now >= r->due ||
         held > r->measured * 2 + SMALL || held + SMALL < r->measured / 2;
}

void resident_measure (Resident *r, lua_State *L, const Tracker *t, ProfileState *state,
                    ResidentPolicy *policy, int last) {
  uint64_t now = clock_now(), rss, started, cost;
  Footprint f, old;
  luaN_Memory m;
  luaN_memory(L, &m);
  resident_held(r, m.held);
  if (last == 0 && !isstale(r, now, m.held)) return;
  if (last == RESIDENT_STATE &&
      !claimdue(policy, now, mappings_recentrss(now, LAST_NS), last, 0)) return;
  if (last != RESIDENT_STATE && isyoung(policy, now)) return;
  if (!isallowed(now)) return;
  started = clock_thread();
  footprint_take(&f, L, &t->followed, &t->functions);
  pthread_mutex_lock(&lock);
  old = r->footprint;
  r->footprint = f;
  r->measured = m.held;
  enlist(r);
  pthread_mutex_unlock(&lock);
  footprint_free(&old);
  rss = mappings_rss();
  if (state != NULL && claimdue(policy, now, rss, last, 1)) resident_emit(state, now);
  cost = clock_between(started, clock_thread());
  pthread_mutex_lock(&lock);
  policy->cost = cost;
  pthread_mutex_unlock(&lock);
  __atomic_add_fetch(&spent, cost, __ATOMIC_RELAXED);
  cost *= RESIDENT_SHARE;
  r->due = now + (cost > CLOCK_SECOND ? cost : CLOCK_SECOND);
}

void resident_leave (Resident *r) {
  if (!r->listed) {
    memset(r, 0, sizeof(*r));
    return;
  }
  pthread_mutex_lock(&lock);
  if (r->next != NULL) r->next->before = r->before;
  if (r->before != NULL) r->before->next = r->next;
  else all = r->next;
  pthread_mutex_unlock(&lock);
  footprint_free(&r->footprint);
  memset(r, 0, sizeof(*r));
}

void resident_forget (Resident *r) {
  memset(r, 0, sizeof(*r));
}

void resident_forked (void) {
  pthread_mutex_init(&lock, NULL);
  all = NULL;
  memset(left, 0, sizeof(left));
  nleft = 0;
  first = spent = drawn = 0;
}
