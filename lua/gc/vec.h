/* SPDX-License-Identifier: MIT */
/*
** Growing arrays of words for the collector's own lists. They come straight
** from lua_Alloc: growing one neither collects nor raises, and says so when it
** fails. Their bytes count as held, not as in use.
*/
#ifndef luaN_vec_h
#define luaN_vec_h

#include <stddef.h>

#include "llimits.h"

struct global_State;

typedef struct luaN_Vec {
  void **a;
  size_t n, size;
} luaN_Vec;

/* A list of objects of which the last ones may be young. */
typedef struct luaN_List {
  luaN_Vec v;
  size_t old;			/* so many are old */
} luaN_List;

/* Makes room for n more. 0: no memory, nothing has changed. */
LUAI_FUNC int luaN_reserve (struct global_State *g, luaN_Vec *v, size_t n);

/* Gives most of an array's memory back when few of its words are in use; room
   for 'spare' more stays. */
LUAI_FUNC void luaN_shrinkspare (struct global_State *g, luaN_Vec *v,
                                 size_t spare);

/* Nothing will be added: gives back all that is not in use. */
LUAI_FUNC void luaN_fitvec (struct global_State *g, luaN_Vec *v);

LUAI_FUNC void luaN_freevec (struct global_State *g, luaN_Vec *v);

static inline void luaN_shrinkvec (struct global_State *g, luaN_Vec *v) {
  luaN_shrinkspare(g, v, 0);
}

/* Appends p. 0: no memory. */
static inline int luaN_push (struct global_State *g, luaN_Vec *v, void *p) {
  if (l_unlikely(v->n == v->size) && !luaN_reserve(g, v, 1)) return 0;
  v->a[v->n++] = p;
  return 1;
}

#endif
