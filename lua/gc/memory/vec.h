/* SPDX-License-Identifier: MIT */
/* Growing arrays of words for the collector's lists, from lua_Alloc. The growth of an array runs no
   collection and raises no error; the function that grows the array returns 0 if there is no
   memory. The bytes of the arrays count as reserved, not as in use by the program. */
#pragma once

#include <stddef.h>

#include "llimits.h"

struct global_State;

/* Distance of prefetches, in elements: a loop over a list, or over slots, nodes or buckets,
   prefetches the memory of the element this number of elements ahead. A larger distance hides more
   latency, and wastes more prefetches at the end of short loops. */
#define LUAN_PREFETCH_DISTANCE	16u

typedef struct luaN_Vec {
  void **a;
  /* n: number of words in use. size: capacity in words. */
  size_t n, size;
} luaN_Vec;

/* a list of objects whose last entries may be young */
typedef struct luaN_List {
  luaN_Vec v;
  /* number of entries at the start whose objects are known to be old */
  size_t old;
} luaN_List;

/* Ensures that v has capacity for n more words, and returns 1. Returns 0, with *v unchanged, if
   there is no memory. */
LUAI_FUNC int luaN_reserve (struct global_State *g, luaN_Vec *v, size_t n);

/* Reduces the capacity to a quarter if it exceeds 64 words, and the words in use plus 'spare' words
   are less than an eighth of it. */
LUAI_FUNC void luaN_shrinkspare (struct global_State *g, luaN_Vec *v, size_t spare);

/* Reduces the capacity of v to the words in use. Does nothing if no words are in use. */
LUAI_FUNC void luaN_fitvec (struct global_State *g, luaN_Vec *v);

/* Frees the memory of v, and makes v empty. */
LUAI_FUNC void luaN_freevec (struct global_State *g, luaN_Vec *v);

/* Returns vector number i (0 to LUAN_VECS - 1) of luaN_Gc. After a full collection, vectors 0 to
   LUAN_EMPTYVECS - 1 have no words in use. At the end of a major collection, vectors 0 to
   LUAN_SHRUNKVECS - 1 get a smaller capacity if most of it is unused. */
enum { LUAN_EMPTYVECS = 11, LUAN_SHRUNKVECS = 15, LUAN_VECS = 22 };
LUAI_FUNC luaN_Vec *luaN_vecat (struct global_State *g, int i);

/* Reduces the capacity of v to a quarter if it exceeds 64 words, and less than an eighth of it is
   in use. */
static inline void luaN_shrinkvec (struct global_State *g, luaN_Vec *v) {
  luaN_shrinkspare(g, v, 0);
}

/* Appends p to v, and returns 1. Returns 0 if there is no memory. */
static inline int luaN_push (struct global_State *g, luaN_Vec *v, void *p) {
  if (l_unlikely(v->n == v->size) && !luaN_reserve(g, v, 1)) return 0;
  v->a[v->n++] = p;
  return 1;
}
