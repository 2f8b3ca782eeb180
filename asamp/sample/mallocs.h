/* SPDX-License-Identifier: MIT */
/*
** Takes samples of native memory. A library that is loaded before malloc selects the allocations
** to be sampled (mallocseam.h). For each of them, this file takes the C stack and determines the
** Lua state that the thread runs. The client of that state, usually its tracker, receives the
** sample. If the thread runs no client's state, the sample is put in a queue of the process, and
** one of the clients receives it later.
**
** A sample is taken inside a call of malloc, so it may happen anywhere: in the dynamic loader with
** its lock held, in fork handlers, in a signal handler that interrupted another sample, or at
** exit. Hence these rules:
**
**   MS1  taking a sample takes no lock that may be held during an allocation, a load, a fork or a
**        symbol lookup. The stack is walked by backtrace.h, which is async-signal-safe. A sample
**        is lost while four other threads are walking their stacks. It is also lost if the stack
**        is nearly full or is not the thread's own;
**   MS2  the profiler does not sample itself. A sample is dropped if its stack contains a function
**        of this module's object file. It is also dropped if it is a chunk of a state's heap
**        (luaN_isallocating), because the state's own samples cover that memory;
**   MS3  a client's 'take' is called on the thread that runs its state, and never in a forked
**        child of the process in which the client was added;
**   MS4  a walk may lack unwind rules. They are looked up later, where the thread may block: in a
**        collection, and on the writer's thread. The latter is needed because a program may
**        allocate for long without running Lua.
*/
#ifndef asamp_mallocs_h
#define asamp_mallocs_h

#include <stdint.h>

#include "lua.h"

#include "mallocseam.h"

#define MALLOCS_FRAMES	62	/* Largest number of native frames stored with a queued sample. */
#define MALLOCS_QUEUE	2048	/* Capacity of the queue in samples. */

/*
** A sample of native memory. 'time' is CLOCK_MONOTONIC in ns, 'size' in bytes, 'count' in
** sampling periods.
*/
typedef struct MallocSample {
  void *block;
  uint64_t time, size, count;
  const void *owner;	/* Slot that watches the block, set by mallocs_watch; NULL: the block is
			   not watched. */
  const void *sp;	/* A stack address inside the innermost frame. */
  void **native;	/* Return addresses, innermost first. */
  int n;	/* Number of frames. */
  int whole;		/* 1: the frames reach to the outermost one; 0: BACKTRACE_MAX or
				   MALLOCS_FRAMES has cut them. */
} MallocSample;

/*
** Result of a client's 'take'. TAKEN: the client has stored the sample. LOST: the client has
** dropped it. NOTMINE: the sample belongs to another client.
*/
enum { MALLOCS_TAKEN, MALLOCS_LOST, MALLOCS_NOTMINE };

typedef int (*MallocsTake) (lua_State *L, const MallocSample *s);

/*
** Returns 1 if native memory can be sampled: the library is loaded, has this version of the
** interface, and provides the process's malloc. Otherwise returns 0 with a message in 'err'.
*/
int mallocs_there (char *err, size_t errsize);

/*
** mallocs_start adds the client 'home' and starts sampling. Call mallocs_there first. Returns 0 if
** there is not enough memory.
**   - 'period' (in bytes) and 'take' apply to all clients of the process. 'take' receives as L the
**     main thread of the state that runs on the OS thread of the sample.
**   - 'seed' is the seed of the intervals; 0 keeps the present seed.
** One client drains the queue; if it is late, any may (mallocs_drain).
**
** mallocs_end removes the client. Sampling stops when the last one is removed. Both functions may
** block.
*/
int mallocs_start (uint64_t period, uint64_t seed, MallocsTake take, const void *home);
void mallocs_end (const void *home);

/* Stops sampling in the child of a fork, until the next client is added. */
void mallocs_forked (void);

/* Watches the sample's block and sets s->owner to its slot. Returns 1. If the library cannot watch
   the block (watch of MallocSeam), sets s->owner to NULL and returns 0. Call it only in 'take'. */
int mallocs_watch (MallocSample *s);

/* Looks up missing unwind rules (MS4), and then passes all queued samples to 'one' in order. Passes
   none while another thread is draining the queue, or if another client drains the queue, unless
   the queue is half full or its first sample is older than 10 ms. Must not be called in 'take'. */
void mallocs_drain (const void *home, void (*one) (void *ud, const MallocSample *s),
                    void *ud);

/*
** Looks up the missing unwind rules. Returns 1 if any was looked up. Call it only where the thread
** may block.
*/
int mallocs_learn (void);

/* Returns 1 if mallocs_drain would have work to do: samples to pass, or missing unwind rules to
   look up. Checks only one of the memories for walks for missing rules. */
int mallocs_waiting (const void *home);

/*
** The owner of a sample of native memory is the address of the slot that watches the block
** (mallocseam.h).
**   - mallocs_isowner returns 1 if 'owner' is such an address.
**   - mallocs_isfreed returns 1 if the block was freed.
**   - mallocs_isdead does the same, and releases the slot of a freed block: the owner must not be
**     used again.
**   - mallocs_forget stops watching a live block, or releases the slot of a freed one.
*/
static inline int mallocs_isowner (const void *owner);
int mallocs_isdead (const void *owner);
int mallocs_isfreed (const void *owner);
void mallocs_forget (const void *owner);

/* Returns the number of watched blocks freed so far, of all clients. */
uint64_t mallocs_deaths (void);

/* Returns the number of sampling periods whose samples were lost since the last call, of all
   clients. */
uint64_t mallocs_lost (void);

/* Called at exit, when the queued samples will reach no client any more. Returns the periods lost
   since the last mallocs_lost, plus those of the queued samples, unless a thread is draining the
   queue. */
uint64_t mallocs_left (void);

/* Interface of the library that is loaded before malloc; NULL: it is not loaded. */
extern const MallocSeam *mallocs_seam;

static inline int mallocs_isowner (const void *owner) {
  return mallocs_seam != NULL &&
         (uintptr_t)owner - (uintptr_t)mallocs_seam->slots < MALLOC_SLOTS;
}

#endif
