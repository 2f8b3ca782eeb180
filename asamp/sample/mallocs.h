/* SPDX-License-Identifier: MIT */
/*
** Takes samples of native memory. A preloaded library (mallocseam.h) selects allocations of malloc.
** This file takes their C stacks and passes each sample to a client: the profiler of the Lua state
** that runs on the thread. If no such state runs on the thread, the sample is queued; one of the
** clients later empties the queue (mallocs_drain).
*/

/*
** malloc may be called anywhere: in the dynamic loader, fork handlers, signal handlers, at exit.
** So samples of native memory are taken under these rules:
**
**   MS1  taking a sample takes no lock. The C stack is walked by backtrace.h, which is
**        async-signal-safe. A sample is lost if four other threads are walking stacks, or if the
**        stack is nearly full or not the thread's own;
**   MS2  samples of the profiler's own allocations are dropped, and samples of chunks of Lua heaps,
**        because the objects in them are sampled as Lua memory;
**   MS3  a MallocsTake is called on the thread that runs the client's state, and never in a forked
**        child of the process that called mallocs_start;
**   MS4  unwind rules that a walk lacked are looked up later, where the thread may block.
*/
#ifndef asamp_mallocs_h
#define asamp_mallocs_h

#include <stdint.h>

#include "lua.h"

#include "mallocseam.h"

#define MALLOCS_FRAMES	62	/* Largest number of native frames of a queued sample. */
#define MALLOCS_QUEUE	2048	/* Capacity of the queue, samples. */

/* A sample of native memory.
   time   CLOCK_MONOTONIC, ns
   size   bytes of the block
   count  number of sampling periods that the sample represents */
typedef struct MallocSample {
  void *block;
  uint64_t time, size, count;
  const void *owner;	/* Slot in which the preloaded library records that the block was freed;
			   NULL: none. */
  const void *sp;	/* A stack address in the innermost frame. */
  void **native;	/* Return addresses, innermost first. */
  int n;	/* Number of frames. */
  int whole;		/* 1: 'native' has all frames. 0: the stack was truncated at BACKTRACE_MAX
                           or MALLOCS_FRAMES frames. */
} MallocSample;

/* Results of a MallocsTake.
   MALLOCS_TAKEN    a client has stored the sample
   MALLOCS_LOST     a client has dropped the sample
   MALLOCS_NOTMINE  the state L has no client that samples native memory; the sample is queued */
enum { MALLOCS_TAKEN, MALLOCS_LOST, MALLOCS_NOTMINE };

/* Callback that receives a sample inside malloc. L: main thread of the Lua state that runs on this
   OS thread. Returns MALLOCS_TAKEN, MALLOCS_LOST or MALLOCS_NOTMINE. */
typedef int (*MallocsTake) (lua_State *L, const MallocSample *s);

/* Returns 1 if native memory can be sampled; else 0 with a message in 'err'. */
int mallocs_there (char *err, size_t errsize);

/* Adds a client, which the address 'home' identifies, and starts sampling. 'period' (bytes) and
   'take' replace those of earlier calls, also for other clients. 'seed': seed of the random
   intervals; 0: unchanged. May block. Returns 0 if out of memory. Call mallocs_there first. */
int mallocs_start (uint64_t period, uint64_t seed, MallocsTake take, const void *home);
/* Removes the client 'home'. Sampling stops with the last client. May block. */
void mallocs_end (const void *home);

/* Stops sampling in the child of a fork, until the next client is added. */
void mallocs_forked (void);

/* Watches the block of a sample and sets s->owner. Returns 0 if the block cannot be watched.
   Call it only in a MallocsTake. */
int mallocs_watch (MallocSample *s);

/* Looks up missing unwind rules. If the client 'home' has the task to empty the queue of samples,
   or if no client has it, passes each queued sample to 'one'. If another client has this task,
   passes the samples only if that client is late: the queue is at least half full, or the oldest
   sample is older than 10 ms. Must not be called in a MallocsTake, which runs inside malloc. */
void mallocs_drain (const void *home, void (*one) (void *ud, const MallocSample *s),
                    void *ud);

/* Looks up the unwind rules that stack walks lacked. Returns 1 if it found some. May block. */
int mallocs_learn (void);

/* Returns 1 if a call of mallocs_drain for the client 'home' would look up unwind rules or pass
   samples. Ignores rules that were missing only while another thread was walking its stack. */
int mallocs_waiting (const void *home);

/* Returns 1 if 'owner', the owner of a sample, is the address of a slot of the preloaded library
   (mallocseam.h). A slot watches one sampled block of native memory. */
static inline int mallocs_isowner (const void *owner);
/* Returns 1 if the block that slot 'owner' watches was freed. In this case also releases the slot,
   so that 'owner' must not be used again. */
int mallocs_isdead (const void *owner);
/* Returns 1 if the block that slot 'owner' watches was freed. */
int mallocs_isfreed (const void *owner);
/* Stops watching a sampled block, and releases the slot that records whether the block was freed.
   'owner': address of the slot (mallocs_isowner). */
void mallocs_forget (const void *owner);

/* Returns the number of watched blocks freed so far, for all clients. */
uint64_t mallocs_deaths (void);

/* Returns the number of sampling periods of samples that were dropped since the last call, for all
   clients. A sample represents one or more sampling periods. */
uint64_t mallocs_lost (void);

/* Like mallocs_lost, for a call at exit: returns the number of sampling periods of dropped samples.
   Includes the samples in the queue, which will never be emptied. */
uint64_t mallocs_left (void);

/* Interface of the preloaded library; NULL: not loaded. */
extern const MallocSeam *mallocs_seam;

static inline int mallocs_isowner (const void *owner) {
  return mallocs_seam != NULL &&
         (uintptr_t)owner - (uintptr_t)mallocs_seam->slots < MALLOC_SLOTS;
}

#endif
