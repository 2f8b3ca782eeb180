/* SPDX-License-Identifier: MIT */
/*
** The interface between the preloaded library (preload/malloc.c), which samples all malloc
** requests, and the sampler of native memory (sample/mallocs.h). The library calls 'sampled' for
** each sample; the sampler may watch the block until it is freed. Each watched block has a slot:
** one byte, whose address identifies the block.
**
**   MA1  the watch starts before malloc returns, and ends before the real free: no other block
**        has the address meanwhile;
**   MA2  'watch' and 'renew' take no lock and do not allocate. They and 'sampled' may be called in
**        fork handlers, forked children, signal handlers, the loader, at exit and on any thread;
**   MA3  a slot is free, alive, dead or given up. When the watched block is freed, an alive slot
**        becomes dead, and the sampler later makes it free. A slot that the sampler has given up
**        becomes free at once;
**   MA4  allocations that 'sampled' makes are not sampled;
**   MA5  blocks that dlsym requests while it searches for the real allocator are in an arena and
**        never freed.
*/
#ifndef asamp_mallocseam_h
#define asamp_mallocseam_h

#include <stddef.h>
#include <stdint.h>

#define MALLOC_VERSION	2
#define MALLOC_NAME	"asamp_mallocs"	/* name of the library's exported MallocSeam */
/* default sampling period of native memory, bytes */
#define MALLOC_PERIOD	(UINT64_C(512) << 10)

#define MALLOC_SLOTS	65536u	/* largest number of watched blocks */

/* states of the slot of a watched block */
enum { MALLOC_FREE, MALLOC_ALIVE, MALLOC_DEAD, MALLOC_GIVENUP };

/* The data that the preloaded library and the sampler share. Any thread may change the fields
   marked as atomic. */
typedef struct MallocSeam {
  int version;
  uint64_t period;	/* mean number of bytes between two samples; below INTERVAL_MIN: no samples
                           are taken; atomic */
  uint64_t seed;	/* seed of the random intervals between samples; 0: the library draws
                           a seed and stores it here */
  unsigned char *slots;	/* the slots of watched blocks: MALLOC_SLOTS bytes, each a state such as
                           MALLOC_ALIVE; atomic */
  uint64_t deaths;	/* number of watched blocks that were freed so far; atomic */
  /* Called for a block of 'size' bytes that contains 'count' sample points, before the program
     receives the block. Set by the sampler; NULL: none. Atomic. */
  void (*sampled) (void *block, uint64_t size, uint64_t count);
  /* Watches a block until it is freed. Only the callback 'sampled' may call it, with its block.
     Returns the block's slot, or NULL if the library finds no free slot, or no free element of its
     hash table, for the block. */
  unsigned char *(*watch) (void *block);
  /* Changes the calling thread's distance to its next sample point: the thread draws it again, with
     the current period, at its next allocation. */
  void (*renew) (void);
} MallocSeam;

#endif
