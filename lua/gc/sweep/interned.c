/* SPDX-License-Identifier: MIT */
/*
** The string table: finds a short string by its contents. It grows, shrinks and is swept a few
** buckets at a time, to keep pauses short. (Full collections, and some minor ones, sweep all
** buckets at once.)
**
** It uses linear hashing (Litwin, VLDB 1980) in a vector whose size is a power of 2. Bucket i of
** the upper half is in use only if i is less than 'limit'. While it is not in use, its strings are
** in the lower bucket with index i - size / 2. To put the first unused bucket, with index 'limit',
** into use, its lower bucket is split, and 'limit' grows by 1.
**
** A sweep visits the buckets in ascending order, and a split moves strings only to higher buckets,
** which are not swept yet. So the sweep misses no dead string (G5 of gc.h). Marking counts the
** strings that it marks (G12). So the number of dead strings is known, and the sweep ends when it
** has removed that number. Usually the number is 0, and the sweep reads no chain.
*/

#include "lgc.h"
#include "lstring.h"

#include "interned.h"
#include "mark.h"

/* number of buckets that are put into use for each new string while the table grows */
#define SPLITS_A_STRING		2

/* After a minor collection, the list of young strings is freed if its capacity is at most
   MAX_LIST_DROPPED words, because an idle state does not need the list. It is kept if lua_Alloc has
   refused memory: there might be no memory for a new list, and a minor collection without a list
   sweeps the whole string table. */
#define MAX_LIST_DROPPED		256u

/*
** A minor collection sweeps all buckets instead of a list of young strings if that costs less: the
** string table has at most MAX_UNLISTED buckets, and at least one string for each BUCKETS_A_YOUNG
** buckets was added during the last nursery (between two minor collections).
*/
#define BUCKETS_A_YOUNG		4
#define MAX_UNLISTED		32768

/* number of buckets that one call of luaN_shrinkstrings takes out of use */
#define MERGES_A_MINOR		4096


/* {== size ============================================================= */

/* Splits bucket strings.limit - size / 2: moves the strings that belong to bucket strings.limit to
   that bucket, and puts it into use. */
static void split (global_State *g) {
  stringtable *tb = &g->strt;
  luaN_Gc *c = &g->heap.gc;
  TString **low = &tb->hash[c->strings.limit - tb->size / 2];
  TString **high = &tb->hash[c->strings.limit];
  *high = NULL;
  while (*low != NULL) {
    TString *ts = *low;
    if ((int)(ts->hash & (unsigned)(tb->size - 1)) == c->strings.limit) {
      *low = ts->u.hnext;
      ts->u.hnext = *high;
      *high = ts;
    }
    else low = &ts->u.hnext;
  }
  c->strings.limit++;
}


/* Moves the strings of the last bucket in use, with index i, to bucket i - size / 2, and takes
   bucket i out of use. */
static void merge (global_State *g) {
  stringtable *tb = &g->strt;
  luaN_Gc *c = &g->heap.gc;
  TString **low = &tb->hash[--c->strings.limit - tb->size / 2];
  TString *ts = tb->hash[c->strings.limit];
  while (*low != NULL) low = &(*low)->u.hnext;
  *low = ts;
}


/* Resizes the vector of buckets to 'size' buckets. If there is no memory, the vector keeps its
   size, and chains get longer. Runs no collection to get memory, because the resize is not urgent:
   the next new string tries it again. Leaves GCdebt, which makes collections due, unchanged,
   because the vector is never garbage. */
static void resize (lua_State *L, int size) {
  global_State *g = G(L);
  stringtable *tb = &g->strt;
  lu_byte stopem = g->gcstopem;
  l_mem debt;
  TString **v;
  luaN_flush(g);
  debt = g->GCdebt;
  g->gcstopem = 1;
  v = (TString **)luaN_resize(L, tb->hash, cast_sizet(tb->size) * sizeof(TString *),
                              cast_sizet(size) * sizeof(TString *), LUAN_VBUFFER);
  g->gcstopem = stopem;
  if (v == NULL) return;
  luaE_setdebt(g, debt);
  tb->hash = v;
  tb->size = size;
}


void luaN_growstrings (lua_State *L) {
  global_State *g = G(L);
  stringtable *tb = &g->strt;
  luaN_Gc *c = &g->heap.gc;
  int i;
  if (c->strings.shrinking) return;
  if (c->strings.limit == tb->size && tb->nuse >= tb->size && tb->size <= MAX_INT / 4)
    resize(L, 2 * tb->size);
  for (i = 0; i < SPLITS_A_STRING && c->strings.limit < tb->size; i++) split(g);
}


void luaN_shrinkstrings (lua_State *L) {
  global_State *g = G(L);
  stringtable *tb = &g->strt;
  luaN_Gc *c = &g->heap.gc;
  int i;
  if (g->gcstate == GCSswpallgc) return;  /* a merge would move strings to swept buckets */
  if (!c->strings.shrinking) {
    if (tb->nuse >= tb->size / 4 || tb->size <= MINSTRTABSIZE) return;
    c->strings.shrinking = 1;
  }
  for (i = 0; i < MERGES_A_MINOR && c->strings.limit > tb->size / 2; i++) merge(g);
  if (c->strings.limit == tb->size / 2) {
    resize(L, tb->size / 2);
    c->strings.shrinking = 0;
  }
}

/* }===================================================================== */


/* {== allocation and death ============================================ */

void luaN_bornstring (global_State *g, TString *ts) {
  luaN_Gc *c = &g->heap.gc;
  if (!c->strings.unlisted && !luaN_push(g, &c->strings.young, ts))
    c->strings.unlisted = 1;
}


/* Removes dead strings from the cache of luaS_new. Does nothing in a minor collection if no string
   was added to the cache since the last collection: then all its strings are old, and count as
   alive. */
void luaN_clearcache (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  if (c->mark.minor && !c->strings.cached) return;
  c->strings.cached = 0;
  luaS_clearcache(g);
}


/* Removes the dead strings from the chain that starts at *p, the strings of one bucket, and returns
   their number. In a slice of a major collection, a string is dead if it has the epoch of the
   previous major collection; in other collections, if it is not marked. */
static int sweepchain (global_State *g, TString **p) {
  int slice = g->heap.gc.sweep.active && !g->heap.gc.mark.minor;
  int n = 0;
  while (*p != NULL) {
    if (slice ? isdead(g, *p) : luaN_white(g, *p)) {
      *p = (*p)->u.hnext;
      n++;
    }
    else p = &(*p)->u.hnext;
  }
  g->strt.nuse -= n;
  return n;
}


/* Removes the dead strings of strings.young from the string table. */
static void sweeplisted (global_State *g) {
  stringtable *tb = &g->strt;
  const luaN_Vec *v = &g->heap.gc.strings.young;
  size_t i;
  for (i = 0; i < v->n; i++) {
    TString *ts = (TString *)v->a[i];
    if (luaN_white(g, ts)) {
      TString **p = &tb->hash[luaN_bucket(g, ts->hash)];
      while (*p != ts) p = &(*p)->u.hnext;
      *p = ts->u.hnext;
      tb->nuse--;
    }
  }
}


/* Returns 1 if a sweep of all buckets costs less than the removal of dead strings by a list of n
   young strings. */
static int aremany (const luaN_Gc *c, int n) {
  return c->strings.limit <= MAX_UNLISTED && c->strings.limit / BUCKETS_A_YOUNG <= n;
}


/* Empties strings.young, the list of young strings, and decides whether the next nursery (the time
   to the next minor collection) keeps such a list ('unlisted'). born: number of strings added to
   the string table during the nursery that ends. */
static void endnursery (global_State *g, int born) {
  luaN_Gc *c = &g->heap.gc;
  c->strings.young.n = 0;
  c->strings.kept = g->strt.nuse;
  c->strings.unlisted = (lu_byte)aremany(c, born);
  if (c->strings.unlisted ||
      (c->strings.young.size <= MAX_LIST_DROPPED && g->heap.blocks.ceiling == 0))
    luaN_freevec(g, &c->strings.young);
  else luaN_shrinkvec(g, &c->strings.young);
}


void luaN_sweepyoungstrings (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  int born = g->strt.nuse - c->strings.kept;
  if (c->strings.unlisted) {
    int k;
    for (k = 0; k < c->strings.limit; k++) sweepchain(g, &g->strt.hash[k]);
  }
  else sweeplisted(g);
  endnursery(g, born);
}


void luaN_sweepallstrings (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  int born = g->strt.nuse - c->strings.kept;
  if (g->strt.nuse > c->strings.seen && !c->strings.unlisted && !aremany(c, born)) sweeplisted(g);
  luaN_beginstrings(g);
  luaN_sweepstrings(g, ~0u);
  endnursery(g, born);
}


void luaN_beginstrings (global_State *g) {
  luaN_Strings *s = &g->heap.gc.strings;
  s->dead = g->strt.nuse - s->seen;
  s->bucket = 0;
}


unsigned luaN_sweepstrings (global_State *g, unsigned n) {
  luaN_Strings *s = &g->heap.gc.strings;
  unsigned done = 0;
  for (; done < n && s->dead > 0; done++) {
    lua_assert(s->bucket < s->limit);
    if (s->bucket + (int)LUAN_PREFETCH_DISTANCE < s->limit)
      __builtin_prefetch(g->strt.hash[s->bucket + (int)LUAN_PREFETCH_DISTANCE]);
    s->dead -= sweepchain(g, &g->strt.hash[s->bucket++]);
  }
  return done;
}

/* }===================================================================== */
