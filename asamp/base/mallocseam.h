/* SPDX-License-Identifier: MIT */
/*
** Native memory: what the library that stands before malloc (preload/malloc.c) and
** the sampler (sample/mallocs.h) know of each other. The library samples the bytes
** that all threads of the process ask for; the sampler is called with what was
** sampled, and may have a block watched until it is freed.
**
** The fast path of a request is a subtraction from 'left', a variable of the thread at
** a fixed place (initial-exec TLS), a branch that is not taken, and a jump into the
** allocator that stands behind. 'left' is what remains of an interval (interval.h); where it
** passes 0 the library calls 'sampled', then draws the next one. Intervals are random, so
** that a thread's rest of an interval may be forgotten, and another period taken, at any time.
**
** A free looks one number up: how many watched blocks lie in that 16 KiB of the address
** space ('near', which aliases every 16 GiB). Where it is not 0, the block is looked
** for in its bucket of eight. A watched block has a slot, one byte; its address is the
** name of the block for whoever watches it.
**
**   MA1 a block is watched before its malloc returns, and no more when its free calls
**       the allocator: nobody else has its address in between;
**   MA2 nothing here takes a lock or allocates: so it may be called in a fork, a signal
**       handler, the loader, and at exit, by threads that know nothing of Lua;
**   MA3 a slot is free, alive, dead or given up. Only who watches makes a dead one
**       free; one that was given up is free when its block is;
**   MA4 what a thread asks for inside of 'sampled' is not sampled;
**   MA5 what was asked for before the allocator behind was found lies in an arena of
**       the library, which no free gives back.
*/
#ifndef asamp_mallocseam_h
#define asamp_mallocseam_h

#include <stddef.h>
#include <stdint.h>

#define MALLOC_VERSION	2
#define MALLOC_NAME	"asamp_mallocs"	/* of the library's MallocSeam */
#define MALLOC_PERIOD	(UINT64_C(512) << 10)  /* bytes, where nobody says another */

#define MALLOC_SLOTS	65536u	/* blocks that can be watched at a time */

enum { MALLOC_FREE, MALLOC_ALIVE, MALLOC_DEAD, MALLOC_GIVENUP };

typedef struct MallocSeam {
  int version;
  uint64_t period;	/* mean of the intervals; 0: nothing is sampled */
  uint64_t seed;	/* of all intervals; 0: the library has one of its own */
  unsigned char *slots;	/* MALLOC_SLOTS of them (MA3); atomic */
  uint64_t deaths;	/* watched blocks that were freed so far; atomic */
  /*
  ** A block of 'size' bytes has passed 'count' >= 1 sample points, and is not yet the
  ** program's. On the thread that asks for it, whatever it is in the midst of (MA2).
  ** NULL: nobody asks.
  */
  void (*sampled) (void *block, uint64_t size, uint64_t count);
  /* The block is watched until it is freed: its slot, or NULL: there is no room. To be
     called by 'sampled'. */
  unsigned char *(*watch) (void *block);
  /* The calling thread draws a new interval; others take a new period up when theirs is over. */
  void (*renew) (void);
} MallocSeam;

#endif
