/* SPDX-License-Identifier: MIT */
/*
** measures: preloaded (LD_PRELOAD). Prints the number of calls of mincore on stderr when the process
** exits: the sampler makes one for each mapped block of a state whose memory it measures.
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long calls;

int mincore (void *from, size_t bytes, unsigned char *pages) {
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return (int)syscall(SYS_mincore, from, bytes, pages);
}

__attribute__((destructor)) static void end (void) {
  fprintf(stderr, "%lu", calls);
}
