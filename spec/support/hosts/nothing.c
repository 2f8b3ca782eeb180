/* SPDX-License-Identifier: MIT */
/*
** A host that watches a block at the highest address that a thread's arena may have, a multiple
** of 16 GiB, which has the same place as the address 0 in the library's table; then it frees
** NULL. Prints the number of watched blocks that have died so far, and again after it has freed a
** watched block.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mallocseam.h"

int main (void) {
  MallocSeam *seam = dlsym(RTLD_DEFAULT, MALLOC_NAME);
  void (*delete) (void *) = (void (*) (void *))dlsym(RTLD_DEFAULT, "_ZdlPv");
  void *volatile none = NULL;
  void *block = malloc(100);
  if (seam == NULL || delete == NULL || block == NULL) return 1;
  if (!seam->watch((void *)((uintptr_t)1 << 34)) || !seam->watch(block)) return 2;
  free(none);
  delete(none);
  none = realloc(none, 0);
  printf("%d ", (int)seam->deaths);
  free(none);
  free(block);
  printf("%d\n", (int)seam->deaths);
  return 0;
}
