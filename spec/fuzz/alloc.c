/* SPDX-License-Identifier: MIT */
/*
** The lua_Alloc of the fuzzed Lua state. It counts bytes, checks the old sizes that Lua passes,
** and refuses requests as the fields of 'memory' say. It never refuses a request that does not
** make a block larger. Invariant: 'memory.bytes' is the number of bytes that Lua has requested
** and not freed.
*/
#include <stdlib.h>
#include <string.h>

#include "model.h"

Allocator memory;

static int refused (size_t old, size_t size) {
  if (!memory.armed) return 0;
  if (memory.limit && memory.bytes + size - old > memory.limit) return 1;
  if (memory.perMillion) {
    memory.random = memory.random * 6364136223846793005ul + 1442695040888963407ul;
    return (memory.random >> 33) % 1000000u < memory.perMillion;
  }
  return 0;
}

void *allocate (void *ud, void *block, size_t old, size_t size) {
  void *p;
  (void)ud;
  if (block == NULL) old = 0;
  if (size == 0) {
    free(block);
    memory.bytes -= old;
    return NULL;
  }
  memory.calls++;
  if (size > old && refused(old, size)) {
    memory.failed++;
    return NULL;
  }
  p = realloc(block, size);
  if (p == NULL) return NULL;
  memory.bytes += size - old;
  return p;
}
