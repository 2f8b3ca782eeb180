/* SPDX-License-Identifier: MIT */
/* Memory in pages (pages.h). */
#define _GNU_SOURCE
#include "pages.h"

#include <sys/mman.h>

void *pages_realloc (void *ud, void *block, size_t old, size_t size) {
  void *p;
  (void)ud;
  if (size == 0) {
    munmap(block, old);
    return NULL;
  }
  p = block == NULL
    ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    : mremap(block, old, size, MREMAP_MAYMOVE);
  return p != MAP_FAILED ? p : NULL;
}
