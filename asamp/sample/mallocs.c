/* SPDX-License-Identifier: MIT */
/* Samples native memory (mallocs.h). */
#define _GNU_SOURCE
#include "mallocs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "backtrace.h"
#include "binding.h"
#include "clock.h"
#include "loaded.h"
#include "mallocseam.h"
#include "owner.h"

#define ROOM	((size_t)32 << 10)	/* A sample is taken only if the thread's stack has this
                                           many unused bytes. */
#define WALKS	4	/* Number of C stack walks that can run at once in the process. */
/* Time in ns. Emptying the queue is the task of one client. If the oldest queued sample is older
   than this time, any client may empty the queue. */
#define PATIENCE_NS	10000000

/* Memory for a walk of a C stack. */
typedef struct Walk {
  int busy;		/* 1: a thread is using this memory; atomic */
  Backtrace backtrace;
  void *native[BACKTRACE_MAX];
} Walk;

/* A slot of the queue. The queue has samples from threads that do not run the Lua state of a
   client. */
typedef struct Waiting {
  int state;		/* EMPTY: the slot is free; FILLED: it has a sample; atomic */
  MallocSample sample;
  void *native[MALLOCS_FRAMES];
} Waiting;

enum { EMPTY, FILLED };

const MallocSeam *mallocs_seam;

static struct {
  MallocSeam *seam;		/* interface of the preloaded library; NULL: not looked up, or
                                   not loaded */
  MallocsTake take;
  const void *home;		/* Client whose task is to empty the queue; NULL: none; atomic. */
  unsigned clients;		/* Number of clients; atomic. */
  pid_t pid;			/* Process id of the process whose samples are taken. A forked child
                                   has another id and takes none. */
  const char *from, *to;	/* Address range of the object file that has this code, the
                                   profiler's. */
  const char *libraryfrom, *libraryto;  /* Address range of the preloaded library. */
  Walk *walks;			/* WALKS elements; NULL: sampling was never started */
  Waiting *queue;		/* ring buffer of MALLOCS_QUEUE slots */
  uint64_t head, tail;		/* head: number of slots filled so far. tail: number of slots
                                   emptied so far. Both atomic. */
  int draining;			/* 1: a thread is emptying the queue, or mallocs_left was called; no
                                   other thread may empty the queue; atomic */
  uint64_t lost;		/* Number of sampling periods whose samples were dropped; atomic. */
} m;

/* Locked while a client is added or removed (mallocs_start, mallocs_end). */
static pthread_mutex_t clients = PTHREAD_MUTEX_INITIALIZER;

/* Nonzero while this thread looks up unwind rules. Its allocations are then those of the profiler,
   which are not sampled. */
static __thread int learning __attribute__((tls_model("initial-exec")));

/* {== taking a sample, inside malloc ====================================== */

static void lose (uint64_t count) {
  __atomic_add_fetch(&m.lost, count, __ATOMIC_RELAXED);
}

static int isin (const void *address, const char *from, const char *to) {
  const char *a = (const char *)address - 1;
  return from <= a && a < to;
}

/* Removes from a sample the frames of the preloaded library, and all frames of the functions that
   it has called. Returns 0 if a frame of the profiler remains: samples of the profiler's own
   allocations are dropped. */
static int strip (MallocSample *s) {
  int i = 0, j, n = 0;
  while (i < s->n && !isin(s->native[i], m.libraryfrom, m.libraryto)) i++;
  s->native += i;
  for (j = 0; j < s->n - i; j++) {
    if (isin(s->native[j], m.from, m.to)) return 0;
    if (!isin(s->native[j], m.libraryfrom, m.libraryto)) s->native[n++] = s->native[j];
  }
  s->n = n;
  return 1;
}

/* Adds a sample to the queue and watches its block. If the queue is full, or if the block cannot be
   watched, counts the sample as lost. */
static void enqueue (MallocSample *s) {
  uint64_t at = __atomic_load_n(&m.head, __ATOMIC_RELAXED);
  Waiting *w;
  do {
    w = &m.queue[at % MALLOCS_QUEUE];
    if (at - __atomic_load_n(&m.tail, __ATOMIC_ACQUIRE) >= MALLOCS_QUEUE ||
        (s->owner == NULL && !mallocs_watch(s))) {
      if (s->owner != NULL) mallocs_forget(s->owner);
      lose(s->count);
      return;
    }
  } while (!__atomic_compare_exchange_n(&m.head, &at, at + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
  w->sample = *s;
  if (s->n > MALLOCS_FRAMES) {
    w->sample.n = MALLOCS_FRAMES;
    w->sample.whole = 0;
  }
  memcpy(w->native, s->native, (size_t)w->sample.n * sizeof(void *));
  w->sample.native = w->native;
  __atomic_store_n(&w->state, FILLED, __ATOMIC_RELEASE);
}

static void mallocs_finish (MallocSample *s) {
  const void *state = NULL;
  int what = MALLOCS_NOTMINE;
  if (!strip(s)) return;
  if (owner_states(s->sp, &state, 1) > 0)
    what = m.take((lua_State *)(uintptr_t)state, s);
  if (what == MALLOCS_LOST) lose(s->count);
  else if (what == MALLOCS_NOTMINE) {
    if (__atomic_load_n(&m.home, __ATOMIC_ACQUIRE) != NULL) enqueue(s);
    else lose(s->count);
  }
}

static Walk *mallocs_walk (void) {
  int i;
  for (i = 0; i < WALKS; i++)
    if (!__atomic_exchange_n(&m.walks[i].busy, 1, __ATOMIC_ACQUIRE)) return &m.walks[i];
  return NULL;
}

static void sampled (void *block, uint64_t size, uint64_t count) {
  MallocSample s = {block, clock_now(), size, count, NULL, NULL, NULL, 0, 0};
  ucontext_t here;
  Walk *w;
  if (learning || m.pid != getpid() || luaN_isallocating()) return;
  owner_prime();
  w = (owner_room(__builtin_frame_address(0)) >= ROOM) ? mallocs_walk() : NULL;
  if (w == NULL) {
    lose(count);
    return;
  }
  getcontext(&here);
  w->backtrace.end = owner_stackend();
  s.native = w->native;
  s.n = backtrace_take(&w->backtrace, &here, w->native);
  s.whole = (s.n < BACKTRACE_MAX);
  s.sp = __builtin_frame_address(0);
  mallocs_finish(&s);
  __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
}

/* }===================================================================== */

/* {== clients =========================================================== */

static int objectof (void *address, const char **from, const char **to) {
  Loaded o;
  loaded_refresh();
  if (!loaded_find(address, &o)) return 0;
  *from = o.from;
  *to = o.to;
  return 1;
}

static void *lazily (size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return (p != MAP_FAILED) ? p : NULL;
}

int mallocs_there (char *err, size_t errsize) {
  const MallocSeam *seam = dlsym(RTLD_DEFAULT, MALLOC_NAME);
  void *mine = dlsym(RTLD_DEFAULT, "malloc");
  const char *from = NULL, *to = NULL;
  if (seam != NULL && seam->version == MALLOC_VERSION &&
      objectof((void *)(uintptr_t)seam, &from, &to) && from <= (char *)mine &&
      (char *)mine < to) return 1;
  snprintf(err, errsize, "cannot sample native memory: the program does not call the profiler's "
                         "malloc; run the program with asamp run --malloc, or with LD_PRELOAD set "
                         "to profiler/malloc.so");
  return 0;
}

/* Initializes the lock 'clients' in the child of a fork, because another thread of the parent may
   have held it. */
static void mallocs_unlock (void) {
  pthread_mutex_init(&clients, NULL);
}

static int open_ (void) {
  int i;
  if (m.walks != NULL) return 1;
  pthread_atfork(NULL, NULL, mallocs_unlock);
  m.seam = dlsym(RTLD_DEFAULT, MALLOC_NAME);
  mallocs_seam = m.seam;
  m.queue = lazily(MALLOCS_QUEUE * sizeof(*m.queue));
  m.walks = lazily(WALKS * sizeof(*m.walks));
  if (m.queue != NULL && m.walks != NULL &&
      objectof((void *)(uintptr_t)mallocs_there, &m.from, &m.to) &&
      objectof(m.seam, &m.libraryfrom, &m.libraryto)) {
    for (i = 0; i < WALKS; i++)
      if (!backtrace_open(&m.walks[i].backtrace, NULL)) break;
    if (i == WALKS) return 1;
  }
  m.walks = NULL;
  return 0;
}

/* Returns 1 if the client 'home' has the task to empty the queue. Gives it the task if no client
   has it. */
static int ishome (const void *home) {
  const void *which = NULL;
  return __atomic_compare_exchange_n(&m.home, &which, home, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) || which == home;
}

static void mallocs_starting (uint64_t period, uint64_t seed, MallocsTake take, const void *home) {
  owner_prime();
  m.take = take;
  m.pid = getpid();
  __atomic_add_fetch(&m.clients, 1, __ATOMIC_RELAXED);
  ishome(home);
  if (seed != 0) m.seam->seed = seed;
  __atomic_store_n(&m.seam->period, period, __ATOMIC_RELAXED);
  __atomic_store_n(&m.seam->sampled, sampled, __ATOMIC_RELEASE);
  m.seam->renew();
}

int mallocs_start (uint64_t period, uint64_t seed, MallocsTake take, const void *home) {
  int ok;
  pthread_mutex_lock(&clients);
  ok = open_();
  if (ok) mallocs_starting(period, seed, take, home);
  pthread_mutex_unlock(&clients);
  return ok;
}

void mallocs_end (const void *home) {
  pthread_mutex_lock(&clients);
  if (__atomic_sub_fetch(&m.clients, 1, __ATOMIC_RELAXED) == 0)
    __atomic_store_n(&m.seam->sampled, NULL, __ATOMIC_RELEASE);
  __atomic_compare_exchange_n(&m.home, &home, NULL, 0, __ATOMIC_ACQ_REL,
                              __ATOMIC_RELAXED);
  pthread_mutex_unlock(&clients);
}

/* Called in the child of a fork: stops watching the blocks that the parent process watched. */
static void giveup (void) {
  int i;
  for (i = 0; i < (int)MALLOC_SLOTS; i++) {
    unsigned char now = m.seam->slots[i];
    if (now == MALLOC_ALIVE || now == MALLOC_DEAD) mallocs_forget(&m.seam->slots[i]);
  }
}

/* Discards the parent's clients and queued samples in a forked child. Each tracker (sampler of one
   Lua state) calls this function after a fork. Only the first call has an effect: later calls find
   the child's process id in m.pid. */
void mallocs_forked (void) {
  int i;
  if (m.walks == NULL || m.pid == getpid()) return;
  m.pid = getpid();
  giveup();
  __atomic_store_n(&m.seam->sampled, NULL, __ATOMIC_RELEASE);
  m.home = NULL;
  m.clients = 0;
  m.lost = 0;
  for (i = 0; i < MALLOCS_QUEUE; i++) m.queue[i].state = EMPTY;
  m.tail = m.head;
  m.draining = 0;
  for (i = 0; i < WALKS; i++) m.walks[i].busy = 0;
}

int mallocs_learn (void) {
  int i, any = 0;
  if (m.walks == NULL) return 0;
  learning++;
  for (i = 0; i < WALKS; i++) {
    Walk *w = &m.walks[i];
    if (w->backtrace.nwanted == 0 || __atomic_exchange_n(&w->busy, 1, __ATOMIC_ACQUIRE)) continue;
    any |= backtrace_learn(&w->backtrace);
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
  }
  learning--;
  return any;
}

/* Returns 1 if the client 'home' may empty the queue: emptying is its task (ishome), the queue is
   at least half full, or the oldest queued sample is older than PATIENCE_NS. */
static int istaker (const void *home) {
  uint64_t head = __atomic_load_n(&m.head, __ATOMIC_RELAXED);
  uint64_t tail = __atomic_load_n(&m.tail, __ATOMIC_RELAXED);
  const Waiting *first = &m.queue[tail % MALLOCS_QUEUE];
  return ishome(home) || head - tail >= MALLOCS_QUEUE / 2 ||
         (__atomic_load_n(&first->state, __ATOMIC_ACQUIRE) == FILLED &&
          clock_since(first->sample.time) > PATIENCE_NS);
}

void mallocs_drain (const void *home, void (*one) (void *ud, const MallocSample *s),
                    void *ud) {
  if (m.walks == NULL) return;
  mallocs_learn();
  if (!istaker(home) || __atomic_exchange_n(&m.draining, 1, __ATOMIC_ACQUIRE)) return;
  for (;;) {
    Waiting *w = &m.queue[m.tail % MALLOCS_QUEUE];
    if (__atomic_load_n(&w->state, __ATOMIC_ACQUIRE) != FILLED) break;
    one(ud, &w->sample);
    __atomic_store_n(&w->state, EMPTY, __ATOMIC_RELAXED);
    __atomic_store_n(&m.tail, m.tail + 1, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&m.draining, 0, __ATOMIC_RELEASE);
}

int mallocs_waiting (const void *home) {
  return m.walks != NULL &&
         (m.walks[0].backtrace.nwanted > 0 ||
          (__atomic_load_n(&m.head, __ATOMIC_RELAXED) !=
           __atomic_load_n(&m.tail, __ATOMIC_RELAXED) && istaker(home)));
}

uint64_t mallocs_deaths (void) {
  return (m.seam != NULL) ? __atomic_load_n(&m.seam->deaths, __ATOMIC_ACQUIRE) : 0;
}

uint64_t mallocs_lost (void) {
  return __atomic_exchange_n(&m.lost, 0, __ATOMIC_RELAXED);
}

uint64_t mallocs_left (void) {
  uint64_t at, n = mallocs_lost();
  if (m.walks == NULL || __atomic_exchange_n(&m.draining, 1, __ATOMIC_ACQUIRE)) return n;
  for (at = m.tail; at - m.tail < MALLOCS_QUEUE; at++) {
    const Waiting *w = &m.queue[at % MALLOCS_QUEUE];
    if (__atomic_load_n(&w->state, __ATOMIC_ACQUIRE) != FILLED) break;
    n += w->sample.count;
  }
  return n;
}

/* }===================================================================== */

/* {== owners ============================================================ */

int mallocs_watch (MallocSample *s) {
  s->owner = m.seam->watch(s->block);
  return s->owner != NULL;
}

static unsigned char *mallocs_slotof (const void *owner) {
  return (unsigned char *)(uintptr_t)owner;
}

int mallocs_isfreed (const void *owner) {
  return __atomic_load_n(mallocs_slotof(owner), __ATOMIC_ACQUIRE) == MALLOC_DEAD;
}

int mallocs_isdead (const void *owner) {
  if (!mallocs_isfreed(owner)) return 0;
  __atomic_store_n(mallocs_slotof(owner), MALLOC_FREE, __ATOMIC_RELEASE);
  return 1;
}

void mallocs_forget (const void *owner) {
  unsigned char *slot = mallocs_slotof(owner), alive = MALLOC_ALIVE;
  if (!__atomic_compare_exchange_n(slot, &alive, MALLOC_GIVENUP, 0, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    __atomic_store_n(slot, MALLOC_FREE, __ATOMIC_RELEASE);
}

/* }===================================================================== */
