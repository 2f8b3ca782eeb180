/* SPDX-License-Identifier: MIT */
/*
** Samples native memory with the library that is loaded before malloc (mallocseam.h). Takes the
** C stack of each sample, determines the state that the thread runs, and passes the sample to
** that state's client. A sample on a thread that runs no client's state is queued,
** process-wide, for one of the clients.
**
** A sample is taken inside a call of malloc, which may come from anywhere: from the dynamic
** loader with its lock held, from fork handlers, from a signal handler that interrupted a
** sample, at exit.
**
**   MS1  taking a sample takes no lock that may be held during an allocation, loading, a fork or a
**        symbol lookup. The stack walk is the async-signal-safe one (backtrace.h). A sample is
**        lost while four walks are running on other threads, and on a stack that is not the
**        thread's own or is nearly full;
**   MS2  allocations of this module are no samples: a stack that contains a function of its
**        object file is dropped. So are the chunks of a state's heap (luaN_isallocating), which
**        the state's own samples cover;
**   MS3  a client's 'take' is called on the thread that runs its state, and never in a forked
**        child of the process in which the client was added;
**   MS4  unwind rules that a walk lacked are looked up where waiting is allowed: in a
**        collection, and on the writer's thread, because a program may allocate for long without
**        running Lua.
*/
#ifndef asamp_mallocs_h
#define asamp_mallocs_h

#include <stdint.h>

#include "lua.h"

#include "mallocseam.h"

#define MALLOCS_FRAMES	62	/* Most native frames kept of a queued sample. */
#define MALLOCS_QUEUE	2048	/* Capacity of the queue in samples. */

/*
** A sample of native memory. 'time' is CLOCK_MONOTONIC in ns, 'size' in bytes, 'count' in
** sampling periods.
*/
typedef struct MallocSample {
  void *block;
  uint64_t time, size, count;
  const void *owner;	/* Owner of the sample, from mallocs_watch (mallocs_isowner); NULL:
			   not watched. */
  const void *sp;	/* A stack pointer inside the innermost frame. */
  void **native;	/* Return addresses, innermost first. */
  int n;	/* Number of frames. */
  int whole;		/* 1: no limit of frames (BACKTRACE_MAX, MALLOCS_FRAMES) has cut the
				   outer frames. */
} MallocSample;

/*
** Result of a client's 'take': the client has the sample; it dropped the sample; it is not the
** sample's client.
*/
enum { MALLOCS_TAKEN, MALLOCS_LOST, MALLOCS_NOTMINE };

typedef int (*MallocsTake) (lua_State *L, const MallocSample *s);

/*
** Returns 1 if the library is loaded, with this version of the interface, and the first malloc of
** the process is the library's. Else returns 0 with a message in 'err'.
*/
int mallocs_there (char *err, size_t errsize);

/*
** Adds a client and starts sampling. The period, in bytes, and 'take' are common to all clients
** of the process; 'seed' 0: the seed stays. 'take' receives the main thread of the state that the
** thread runs. 'home' identifies the client. One client drains the queue (mallocs_drain); if it
** is late, any client does. Returns 0 if there is not enough memory. Requires mallocs_there.
** mallocs_end removes the client; sampling stops with the last one. Both may block.
*/
int mallocs_start (uint64_t period, uint64_t seed, MallocsTake take, const void *home);
void mallocs_end (const void *home);

/* Stops sampling in the child of a fork, until the next client is added. */
void mallocs_forked (void);

/*
** Watches the sample's block, sets s->owner and returns 1. If no slot or place is free (watch of
** MallocSeam), sets s->owner to NULL and returns 0. For use in 'take'.
*/
int mallocs_watch (MallocSample *s);

/*
** Looks up missing unwind rules (MS4). Then passes all queued samples to 'one', in order, if 'home'
** or no client is the one that drains the queue, or half of the queue is full, or its first sample
** is older than 10 ms. Passes none while another thread does so. Must not be called inside 'take'.
*/
void mallocs_drain (const void *home, void (*one) (void *ud, const MallocSample *s),
                    void *ud);

/*
** Looks up the missing unwind rules. Call it only where the thread may block. Returns 1 if any
** was looked up.
*/
int mallocs_learn (void);

/* Returns 1 if mallocs_drain would pass samples, or look up rules that the first Walk lacks. */
int mallocs_waiting (const void *home);

/*
** An owner of native memory is the address of a slot (mallocseam.h); mallocs_isowner returns 1 for
** one. mallocs_isdead returns 1 if the block was freed; the slot is then released, and the owner
** must not be used again. mallocs_isfreed does the same without releasing the slot.
** mallocs_forget ends the watch of a live block, or releases the slot of a freed one.
*/
static inline int mallocs_isowner (const void *owner);
int mallocs_isdead (const void *owner);
int mallocs_isfreed (const void *owner);
void mallocs_forget (const void *owner);

/* Returns the number of watched blocks freed so far, of all clients. */
uint64_t mallocs_deaths (void);

/* Returns the number of sampling periods lost since the last call, of all clients. */
uint64_t mallocs_lost (void);

/*
** At exit: returns the periods lost since the last mallocs_lost and, unless the queue is being
** drained, those of the queued samples, which no client will receive.
*/
uint64_t mallocs_left (void);

/* Interface of the library, or NULL. */
extern const MallocSeam *mallocs_seam;

static inline int mallocs_isowner (const void *owner) {
  return mallocs_seam != NULL &&
         (uintptr_t)owner - (uintptr_t)mallocs_seam->slots < MALLOC_SLOTS;
}

#endif
