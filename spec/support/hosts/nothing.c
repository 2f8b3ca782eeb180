/* SPDX-License-Identifier: MIT */
/*
** A host program that watches a block at the highest possible address of a thread's malloc arena,
** a multiple of 16 GiB. In the preloaded library's table of watched blocks, this address has the
** same slot as the address 0. So a free of NULL must not count as a free of the block. The
** program passes NULL to free, delete and realloc, and prints how many watched blocks have died.
** Then it frees another watched block, and prints the number again.
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
