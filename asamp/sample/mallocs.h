/* SPDX-License-Identifier: MIT */
/*
** Samples of native memory, from the library that stands before malloc
** (mallocseam.h): takes the C stack of each, finds the state that the thread runs, and
** gives them to clients, one a state. What a thread asks for that runs no client's
** state waits in a queue of the process, for one of them.
**
** A sample is taken in the midst of a malloc, which may be anywhere: in the loader,
** which has its lock then, in a fork's handlers, in a signal's handler that has
** interrupted a sample, at exit.
**
**   MS1 nothing here waits for a lock that anybody holds while he allocates, loads,
**       forks or looks symbols up. The walk is that of signal handlers (backtrace.h). A
**       sample is lost while four walks are under way on other threads, and on a stack
**       that is not the thread's own or has little room;
**   MS2 memory that this module asks for itself is no sample: a stack that has a
**       function of its object file on it is dropped. So are the chunks of a state's
**       heap (luaN_isallocating), which its own samples tell;
**   MS3 a client's 'take' is called on the thread that runs its state, and never in a
**       process that has forked since it came;
**   MS4 rules that walks have missed are looked up where one may wait: in a collection,
**       and on the writer's thread, for a program may ask for memory without Lua.
*/
#ifndef asamp_mallocs_h
#define asamp_mallocs_h

#include <stdint.h>

#include "lua.h"

#include "mallocseam.h"

#define MALLOCS_FRAMES	62	/* of a sample that waits in the queue */
#define MALLOCS_QUEUE	2048	/* samples that can wait */

typedef struct MallocSample {
  void *block;
  uint64_t time, size, count;
  const void *owner;	/* what isowner knows, from mallocs_watch */
  const void *sp;	/* inside of the innermost frame */
  void **native;	/* return addresses, innermost first */
  int n;
  int whole;		/* there are no more outside of these */
} MallocSample;

/* What a client says of a sample that its thread has taken. */
enum { MALLOCS_TAKEN, MALLOCS_LOST, MALLOCS_NOTMINE };

typedef int (*MallocsTake) (lua_State *L, const MallocSample *s);

/* Is the library there, and is its malloc the one that this module calls? 0: 'err' says
   what to do. */
int mallocs_there (char *err, size_t errsize);

/*
** A client comes: samples are taken from here on, with that period, which is the
** process's. 'take' of all clients is one function; L is the main thread of the state
** that the thread runs. 'home' is a name for the client: of the clients that there are
** one has the samples of threads that run none, and any of them has what waits for one that
** does not come. 0: no memory. The caller may wait.
*/
int mallocs_begin (uint64_t period, uint64_t seed, MallocsTake take, const void *home);
void mallocs_end (const void *home);

/* In the child of a fork: nothing is sampled until the next client comes. */
void mallocs_forked (void);

/* The block is watched; 0: there is no room, nothing has changed. For 'take'. */
int mallocs_watch (MallocSample *s);

/* Looks rules up (MS4); then hands the samples that wait to 'one', in their order, when they are
   of 'home' or of a client that has gone, half of the queue is full, or the first has waited for
   a hundredth of a second. Not inside of 'take'. */
void mallocs_drain (const void *home, void (*one) (void *ud, const MallocSample *s),
                    void *ud);

/* Looks rules up. From any thread that may wait. 0: there were none to look up. */
int mallocs_learn (void);

/* Is there anything for mallocs_drain? */
int mallocs_waiting (const void *home);

/* Owners: is it one; has its block been freed (asked once more after that, it is
   another's); the same without an end of the watch; it is not asked for any more. */
static inline int mallocs_isowner (const void *owner);
int mallocs_isdead (const void *owner);
int mallocs_isfreed (const void *owner);
void mallocs_forget (const void *owner);

/* Watched blocks that have been freed so far, whoever watches them. */
uint64_t mallocs_deaths (void);

/* Sample points that were lost since this was last asked. */
uint64_t mallocs_lost (void);

/* At exit: these, and those that wait, which nobody gets any more. */
uint64_t mallocs_left (void);

/* Of the library, or NULL. */
extern const MallocSeam *mallocs_seam;

static inline int mallocs_isowner (const void *owner) {
  return mallocs_seam != NULL &&
         (uintptr_t)owner - (uintptr_t)mallocs_seam->slots < MALLOC_SLOTS;
}

#endif
