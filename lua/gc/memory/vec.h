/* SPDX-License-Identifier: MIT */
/*
** Growing arrays of words for the collector's own lists. Their memory comes from lua_Alloc: growing
** an array runs no collection and raises no error, but returns 0 if there is no memory. The bytes
** of the arrays count as reserved from lua_Alloc, but not as in use by the program.
*/
#ifndef luaN_vec_h
#define luaN_vec_h

#include <stddef.h>

#include "llimits.h"

struct global_State;

/* How far ahead loops over a list, or over slots, nodes or buckets, prefetch, in elements: with
   each element, such a loop prefetches the object of the element that is this number of elements,
   or a multiple of it, later. A larger distance hides more latency and wastes more prefetches at
   the end of short runs. */
#define LUAN_PREFETCH_DISTANCE	16u

typedef struct luaN_Vec {
  void **a;
  /* number of words of the array in use; capacity of the array in words */
  size_t n, size;
} luaN_Vec;

/* A list of objects whose last entries may be young. */
typedef struct luaN_List {
  luaN_Vec v;
  /* number of entries at the start of the list whose objects are known to be old */
  size_t old;
} luaN_List;

/* Ensures capacity for n more words. Returns 0, and leaves *v as it is, if there is no memory. */
LUAI_FUNC int luaN_reserve (struct global_State *g, luaN_Vec *v, size_t n);

/* Reduces the capacity of an array to a quarter if most of it is unused: if the capacity is more
   than 64 words, and the words in use plus 'spare' words are less than an eighth of it. */
LUAI_FUNC void luaN_shrinkspare (struct global_State *g, luaN_Vec *v,
                                 size_t spare);

/* Reduces the capacity of an array to the number of its words in use. Does nothing if no word is in
   use. */
LUAI_FUNC void luaN_fitvec (struct global_State *g, luaN_Vec *v);

/* Frees the memory of the array and makes it empty. */
LUAI_FUNC void luaN_freevec (struct global_State *g, luaN_Vec *v);

/*
** The vectors of luaN_Gc by number, from 0 to LUAN_VECS - 1. Vectors with a number below
** LUAN_EMPTYVECS are empty after a full collection. The capacity of those with a number below
** LUAN_SHRUNKVECS is reduced at the end of a major collection, because no other code reduces it.
*/
enum { LUAN_EMPTYVECS = 11, LUAN_SHRUNKVECS = 15, LUAN_VECS = 22 };
LUAI_FUNC luaN_Vec *luaN_vecat (struct global_State *g, int i);

/* Reduces the capacity of an array if most of it is unused, as luaN_shrinkspare does with
   'spare' 0. */
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
