/* SPDX-License-Identifier: MIT */
/* Memory of zlib (zmemory.h). */
#include "zmemory.h"

#include <stdlib.h>

static void *zalloc (void *ud, unsigned n, unsigned each) {
  (void)ud;
  return malloc((size_t)n * each);
}

static void zfree (void *ud, void *p) {
  (void)ud;
  free(p);
}

void zmemory (z_stream *z) {
  z->zalloc = zalloc;
  z->zfree = zfree;
}
