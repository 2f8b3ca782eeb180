/* SPDX-License-Identifier: MIT */
/*
** Growing arrays of words for the collector's own lists. Their memory comes from lua_Alloc:
** growing neither collects nor raises, but returns 0 on failure. Their bytes count as reserved,
** not as in use.
*/
#ifndef luaN_vec_h
#define luaN_vec_h

#include <stddef.h>

#include "llimits.h"

struct global_State;

/* Distance of prefetching, in elements: a loop over a list, or over slots, nodes or buckets,
   prefetches the object of an element that is this number, or a multiple, ahead. A larger distance
   hides more latency and wastes more prefetches at the end of short runs. */
#define LUAN_PREFETCH_DISTANCE	16u

typedef struct luaN_Vec {
  void **a;
  size_t n, size;		/* number of words in use; capacity in words */
} luaN_Vec;

/* A list of objects whose last entries may be young. */
typedef struct luaN_List {
  luaN_Vec v;
  size_t old;			/* number of entries at the start that are known to be old */
} luaN_List;

/* Ensures capacity for n more words. Returns 0, and leaves *v as it is, if there is no memory. */
LUAI_FUNC int luaN_reserve (struct global_State *g, luaN_Vec *v, size_t n);

/* Reduces the capacity of an array to a quarter if it is more than 64 words and less than an eighth
   of it is needed. Needed are the words in use and 'spare' more. */
LUAI_FUNC void luaN_shrinkspare (struct global_State *g, luaN_Vec *v,
                                 size_t spare);

/* Reduces the capacity of an array to the number of its words in use. Does nothing if no word is in
   use. */
LUAI_FUNC void luaN_fitvec (struct global_State *g, luaN_Vec *v);

/* Frees the memory of the array and makes it empty. */
LUAI_FUNC void luaN_freevec (struct global_State *g, luaN_Vec *v);

/*
** The vectors of luaN_Gc by number, from 0 to LUAN_VECS - 1. Those below LUAN_EMPTYVECS are empty
** after a full collection. Those below LUAN_SHRUNKVECS have no other place where their capacity is
** reduced, so the end of a major collection reduces it.
*/
enum { LUAN_EMPTYVECS = 11, LUAN_SHRUNKVECS = 15, LUAN_VECS = 22 };
LUAI_FUNC luaN_Vec *luaN_vecat (struct global_State *g, int i);

/* As luaN_shrinkspare without spare capacity. */
static inline void luaN_shrinkvec (struct global_State *g, luaN_Vec *v) {
  luaN_shrinkspare(g, v, 0);
}

/* Appends p. Returns 0 if there is no memory. */
static inline int luaN_push (struct global_State *g, luaN_Vec *v, void *p) {
  if (l_unlikely(v->n == v->size) && !luaN_reserve(g, v, 1)) return 0;
  v->a[v->n++] = p;
  return 1;
}

#endif
