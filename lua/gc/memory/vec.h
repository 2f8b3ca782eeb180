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

/* A loop over the words of a list, over slots or over buckets prefetches the object to which the
   element refers that is this number of places ahead. A larger number hides more latency and wastes
   more prefetches at the end of short runs. */
#define LUAN_PREFETCH_DISTANCE	16u

typedef struct luaN_Vec {
  void **a;
  size_t n, size;
} luaN_Vec;

/* A list of objects of which the last ones may be young. */
typedef struct luaN_List {
  luaN_Vec v;
  size_t old;			/* number of entries at the start that are old */
} luaN_List;

/* Ensures capacity for n more words. Returns 0 if there is no memory; nothing has changed then. */
LUAI_FUNC int luaN_reserve (struct global_State *g, luaN_Vec *v, size_t n);

/* Frees most of the array's unused memory if few of its words are in use; keeps capacity for
   'spare' more. */
LUAI_FUNC void luaN_shrinkspare (struct global_State *g, luaN_Vec *v,
                                 size_t spare);

/* Frees the unused memory of an array that will not grow. An empty array keeps its memory. */
LUAI_FUNC void luaN_fitvec (struct global_State *g, luaN_Vec *v);

/* Frees the memory of the array and makes it empty. */
LUAI_FUNC void luaN_freevec (struct global_State *g, luaN_Vec *v);

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
