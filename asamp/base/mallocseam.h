/* SPDX-License-Identifier: MIT */
/*
** The interface between the library loaded before malloc (preload/malloc.c) and the sampler of
** native memory (sample/mallocs.h). The library samples the bytes that all threads of the
** process request; it calls the sampler with each sample, and the sampler may have a block
** watched until it is freed.
**
** The fast path of a request subtracts from 'left', a thread-local variable at a fixed offset
** (initial-exec TLS), does not take a branch, and jumps into the next allocator. 'left' is the
** rest of an interval (interval.h). When it falls below 0, the library calls 'sampled' and
** draws the next interval. Intervals are random, so the rest of a thread's interval may be
** dropped and the period changed at any time.
**
** A free looks up one number: how many watched blocks lie in the block's 16 KiB of the address
** space ('near', indexed modulo 16 GiB). Unless it is 0, the block is searched in its bucket of
** eight. A watched block has a slot of one byte, whose address identifies the block for the
** sampler.
**
**   MA1  a block is watched before its malloc returns, until its free calls the allocator: the
**        address belongs to nobody else in between;
**   MA2  nothing here takes a lock or allocates, so it may be called in a fork, a signal
**        handler, the loader and at exit, by threads without Lua;
**   MA3  a slot is free, alive, dead or given up. Only the sampler frees a dead slot; one that
**        was given up is freed with its block;
**   MA4  allocations inside 'sampled' are not sampled;
**   MA5  blocks requested before the next allocator was found lie in an arena of the library,
**        and are never freed.
*/
#ifndef asamp_mallocseam_h
#define asamp_mallocseam_h

#include <stddef.h>
#include <stdint.h>

#define MALLOC_VERSION	2
#define MALLOC_NAME	"asamp_mallocs"	/* symbol of the library's MallocSeam */
#define MALLOC_PERIOD	(UINT64_C(512) << 10)  /* default period in bytes */

#define MALLOC_SLOTS	65536u	/* blocks that can be watched at a time */

enum { MALLOC_FREE, MALLOC_ALIVE, MALLOC_DEAD, MALLOC_GIVENUP };

/* The interface. */
typedef struct MallocSeam {
  int version;
  uint64_t period;	/* mean interval in bytes; 0: nothing is sampled */
  uint64_t seed;	/* seed of all intervals; 0: the library chooses one */
  unsigned char *slots;	/* MALLOC_SLOTS slots (MA3); atomic */
  uint64_t deaths;	/* number of watched blocks freed so far; atomic */
  /* Called when a block of 'size' bytes has passed 'count' >= 1 sample points, before the
     program receives it, on the requesting thread, whatever it interrupted (MA2). NULL: not
     called. */
  void (*sampled) (void *block, uint64_t size, uint64_t count);
  /* Watches the block until it is freed. Returns its slot, or NULL if none is free. Called
     by 'sampled'. */
  unsigned char *(*watch) (void *block);
  /* Draws a new interval for the calling thread. Other threads use a new period after their
     present interval. */
  void (*renew) (void);
} MallocSeam;

#endif
