/* SPDX-License-Identifier: MIT */
/* Growing arrays of words (vec.h). Growth doubles their capacity. */

#include <stddef.h>

#include "lstate.h"

#include "host.h"
#include "vec.h"

/* smallest capacity, in words */
#define SMALLEST	2u


static int resize (global_State *g, luaN_Vec *v, size_t size) {
  void **a = (void **)luaN_askmore(g, v->a, v->size * sizeof(void *), size * sizeof(void *));
  if (a == NULL && size > 0) return 0;
  v->a = a;
  v->size = size;
  return 1;
}


int luaN_reserve (global_State *g, luaN_Vec *v, size_t n) {
  size_t size = (v->size < SMALLEST) ? SMALLEST : v->size;
  if (v->n + n <= v->size) return 1;
  while (size < v->n + n) {
    if (size > MAX_SIZET / sizeof(void *) / 2) return 0;
    size *= 2;
  }
  return resize(g, v, size);
}


void luaN_shrinkspare (global_State *g, luaN_Vec *v, size_t spare) {
  if (v->size > 32 * SMALLEST && v->n + spare < v->size / 8)
    resize(g, v, v->size / 4);  /* v keeps its size if resize fails */
}


void luaN_fitvec (global_State *g, luaN_Vec *v) {
  if (v->n > 0) resize(g, v, v->n);  /* v keeps its size if resize fails */
}


luaN_Vec *luaN_vecat (global_State *g, int i) {
#define AT(member)	offsetof(luaN_Gc, member)
  static const unsigned short at[LUAN_VECS] = {
    AT(mark.young), AT(mark.old), AT(mark.holders), AT(mark.slots), AT(remset.slots),
    AT(weak.unresolved), AT(weak.doubtful[LUAN_DOUBTKEYS]), AT(weak.doubtful[LUAN_DOUBTVALUES]),
    AT(strings.young), AT(finalize.left), AT(finalize.aged),
    AT(remset.objects), AT(remset.whole), AT(weak.discovered), AT(weak.inmajor),
    AT(lists.fixed), AT(lists.large.v), AT(lists.tables.v), AT(lists.threads.v),
    AT(lists.standins.v), AT(finalize.finalizable.v), AT(finalize.tobefinalized)
  };
#undef AT
  return (luaN_Vec *)((char *)&g->heap.gc + at[i]);
}


void luaN_freevec (global_State *g, luaN_Vec *v) {
  if (v->size > 0) resize(g, v, 0);
  v->n = 0;
}
