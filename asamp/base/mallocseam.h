/* SPDX-License-Identifier: MIT */
/*
** The interface between the library loaded before malloc (preload/malloc.c) and the sampler of
** native memory (sample/mallocs.h). The library samples the bytes that all threads of the process
** request, and calls the sampler for each sample. The sampler may have the library watch a sampled
** block until the block is freed.
**
** The fast path of a request subtracts the size from 'left', which is the rest of the thread's
** interval (interval.h), takes no branch, and jumps into the real allocator, that of the C library
** or another one. 'left' is a thread-local variable at a fixed offset (initial-exec TLS). When it
** falls below 0, the library calls 'sampled' and draws the next interval. Intervals are random, so
** the library may discard the rest of a thread's interval, and change the period, at any time.
**
** A free reads one number of the array 'near' (indexed by the address modulo 16 GiB): how many
** watched blocks lie in the same 16 KiB of the address space. Unless this is 0, the block is
** searched in two buckets of eight blocks. A watched block has a slot of one byte, whose address
** identifies the block for the sampler.
**
**   MA1  the watch of a block starts before its malloc returns, and ends before its free calls the
**        real allocator, so that no other block has its address in the meantime;
**   MA2  the functions below neither take a lock nor allocate: they may be called in a fork, a
**        signal handler, the loader and at exit, and on threads without Lua;
**   MA3  a slot is free, alive, dead or given up. The library makes a slot dead when its block is
**        freed; only the sampler then makes it free. If the sampler has given up the slot, the
**        library makes it free when its block is freed;
**   MA4  allocations inside 'sampled' are not sampled;
**   MA5  blocks requested before the real allocator was found are in an arena of the library, and
**        are never freed.
*/
#ifndef asamp_mallocseam_h
#define asamp_mallocseam_h

#include <stddef.h>
#include <stdint.h>

#define MALLOC_VERSION	2
#define MALLOC_NAME	"asamp_mallocs"	/* symbol of the library's MallocSeam */
/* default sampling period of native memory in bytes */
#define MALLOC_PERIOD	(UINT64_C(512) << 10)

#define MALLOC_SLOTS	65536u	/* blocks that can be watched at a time */

/* states of the slot of a watched block: free, its block is alive, its block is dead, or the
   sampler has given it up (MA3) */
enum { MALLOC_FREE, MALLOC_ALIVE, MALLOC_DEAD, MALLOC_GIVENUP };

/* The interface. Fields marked atomic change on any thread. */
typedef struct MallocSeam {
  int version;
  uint64_t period;	/* mean interval in bytes; a value below INTERVAL_MIN turns sampling off;
			   atomic */
  uint64_t seed;	/* seed of all intervals; 0: the library chooses one */
  unsigned char *slots;	/* MALLOC_SLOTS slots, one byte for each watched block, with the values
			   MALLOC_FREE, ... (MA3); atomic */
  uint64_t deaths;	/* number of watched blocks freed so far; atomic */
  /* Set by the sampler; NULL: not called. Called when a block of 'size' bytes has passed 'count' >=
     1 sample points, on the requesting thread, before the program receives the block. Neither takes
     a lock nor allocates (MA2). Atomic. */
  void (*sampled) (void *block, uint64_t size, uint64_t count);
  /* Watches the block until it is freed. Returns its slot; NULL if no free slot was found, or if
     the two buckets of the block are full. Called by 'sampled'. */
  unsigned char *(*watch) (void *block);
  /* Discards the rest of the interval of the calling thread: the thread's next request draws a new
     interval with the current period. Other threads use a new period when their current interval
     ends. */
  void (*renew) (void);
} MallocSeam;

#endif
