/* SPDX-License-Identifier: MIT */
/* Numbers functions by name (functions.h). */
#include "functions.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

static FunctionCache *newcache (uint32_t size) {
  FunctionCache *c = calloc(1, sizeof(*c) + size * sizeof(c->places[0]));
  if (c != NULL) c->mask = size - 1;
  return c;
}

int functions_open (Functions *f) {
  memset(f, 0, sizeof(*f));
  f->cache = newcache(FUNCTIONS_FIRST);
  return f->cache != NULL;
}

void functions_close (Functions *f) {
  free(f->cache);
  idmap_free(&f->byname);
  memset(f, 0, sizeof(*f));
}

void functions_start (Functions *f) {
  idmap_free(&f->byname);
  functions_forget(f);
}

static void clear (Functions *f) {
  uint32_t i;
  if (f->cache == NULL) return;
  if (f->nlisted == FUNCTIONS_LISTED)
    memset(f->cache->places, 0, (f->cache->mask + (size_t)1) * sizeof(f->cache->places[0]));
  else
    for (i = 0; i < f->nlisted; i++)
      memset(&f->cache->places[f->listed[i]], 0, sizeof(f->cache->places[0]));
}

void functions_forget (Functions *f) {
  FunctionCache *cache = f->cache;
  clear(f);
  memset(f, 0, sizeof(*f));
  f->cache = cache;
}

/* If the cache is half full and not of the largest size, replaces it by a larger, empty one. First
   sets f->nlisted to FUNCTIONS_LISTED, so that the child of a concurrent fork clears the whole
   cache. */
static void functions_grow (Functions *f) {
  FunctionCache *old = f->cache, *more;
  const uint32_t size = old->mask + 1;
  if (f->used < size / 2 || size >= FUNCTIONS_CACHED) return;
  if ((more = newcache(size * 4)) == NULL) return;
  __atomic_store_n(&f->nlisted, FUNCTIONS_LISTED, __ATOMIC_RELEASE);
  __atomic_store_n(&f->cache, more, __ATOMIC_RELEASE);
  f->used = 0;
  free(old);
}

/* Stores the function number of a prototype in the cache. Adds the slot to 'listed' before it fills
   the slot, so that the child of a concurrent fork clears the slot. */
static void cacheat (Functions *f, unsigned int prototype, uint32_t number) {
  struct CachedFunction *c;
  uint32_t at;
  functions_grow(f);
  at = prototype & f->cache->mask;
  c = &f->cache->places[at];
  f->used += (c->prototype == 0);
  if (c->prototype == 0 && f->nlisted < FUNCTIONS_LISTED) {
    f->listed[f->nlisted] = (uint16_t)at;
    __atomic_store_n(&f->nlisted, f->nlisted + 1, __ATOMIC_RELEASE);
  }
  c->number = number;
  __atomic_store_n(&c->prototype, prototype, __ATOMIC_RELEASE);
}

/* Returns the hash of a function's name, line and source; never 0. */
static uint64_t functions_keyof (const FunctionName *n) {
  uint64_t source = hash_bytes(n->source, strlen(n->source));
  return hash_words(hash_bytes(n->name, strlen(n->name)),
                    hash_words(source, (uint64_t)n->line)) | 1;
}

/* Returns the number of the function with identity *n, or IDMAP_NONE. Sets *key to the key of *n in
   f->byname. */
static uint32_t functions_find (const Functions *f, const FunctionName *n, uint64_t *key) {
  *key = functions_keyof(n);
  return idmap_get(&f->byname, *key);
}

/* Returns the number of the function *n, like functions_number, but does not use the cache. 'isold'
   1: the function's prototype was numbered earlier, so 'lumped' and 'lumpedchunks' must not count
   it again. */
static uint32_t functions_uncached (Functions *f, FunctionName *n, int isold, int *isnew) {
  uint64_t key;
  uint32_t i = functions_find(f, n, &key);
  int chunk = 0;
  if (i == IDMAP_NONE && !n->isfile) {
    chunk = (f->nchunks < FUNCTIONS_CHUNKS);
    if (!chunk) {
      f->lumpedchunks += !isold;
      n->source = "[other chunks]";
      i = functions_find(f, n, &key);
    }
  }
  if (i == IDMAP_NONE && f->n >= FUNCTIONS_MOST - 1) {
    f->lumped += !isold;
    n->name = "(other functions)";
    n->source = "-";
    n->line = 0;
    i = functions_find(f, n, &key);
  }
  if (i != IDMAP_NONE) return i;
  (void)idmap_set(&f->byname, key, f->n + 1);  /* if out of memory, the next prototype with this
                                                  identity receives another number */
  f->nchunks += (uint32_t)chunk;
  *isnew = 1;
  return ++f->n;
}

uint32_t functions_number (Functions *f, unsigned int prototype, FunctionName *name,
                           int *isnew) {
  uint32_t n;
  *isnew = 0;
  n = functions_uncached(f, name, prototype <= f->last, isnew);
  cacheat(f, prototype, n);
  if (prototype > f->last) f->last = prototype;
  return n;
}
