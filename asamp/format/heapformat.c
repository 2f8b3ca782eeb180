/* SPDX-License-Identifier: MIT */
/* Names of the roots of the heap, for heap snapshots and paths in profiles (heapformat.h). */
#include "heapformat.h"

#include <stdio.h>

void heapformat_root (long long which, char *to, size_t size) {
  static const char *const types[] = {
    "nil", "booleans", "light userdata", "numbers", "strings", "tables", "functions",
    "userdata", "coroutines"
  };
  static const char *const names[] = {
    "registry", "main thread", "C code", "names of metamethods", "pending finalization"
  };
  if (which >= HEAP_RTYPE && which < HEAP_RTYPE + 9)
    snprintf(to, size, "metatable of %s", types[which - HEAP_RTYPE]);
  else
    snprintf(to, size, "%s", which >= 0 && which < 5 ? names[which] : "a root");
}
