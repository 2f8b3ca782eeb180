/* SPDX-License-Identifier: MIT */
/* Pools the memory for walks (unwindpool.h). */
#include "unwindpool.h"

#include <stdlib.h>

#define KEPT	8	/* largest number of elements in the pool */

static Unwind *pool[KEPT];	/* elements that are not taken; NULL: free place. Accessed
                                   atomically. */

Unwind *unwindpool_take (void) {
  int i;
  for (i = 0; i < KEPT; i++) {
    Unwind *u = __atomic_load_n(&pool[i], __ATOMIC_RELAXED);
    if (u != NULL && (u = __atomic_exchange_n(&pool[i], NULL, __ATOMIC_ACQUIRE)) != NULL) return u;
  }
  return calloc(1, sizeof(Unwind));
}

void unwindpool_give (Unwind *u) {
  Unwind *none;
  int i;
  for (i = 0; i < KEPT && u != NULL; i++) {
    none = NULL;
    if (__atomic_compare_exchange_n(&pool[i], &none, u, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
  free(u);
}
