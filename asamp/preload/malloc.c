/* SPDX-License-Identifier: MIT */
/*
** A library for LD_PRELOAD: malloc, related functions and C++'s operators. They count the requested
** bytes, pass sampled blocks to the sampler, and call the real allocator, found with dlsym.
** mallocseam.h has the interface and the rules MA1 to MA5. All functions are thread-safe.
**
** Environment: ASAMP_MALLOC=PERIOD[,SEED], PERIOD in bytes; 0: no samples.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "interval.h"
#include "mallocseam.h"

#define unlikely(x)	__builtin_expect(!!(x), 0)

#define SHOWN		__attribute__((visibility("default")))
#define COLD		__attribute__((noinline, cold))

/* Bytes that this thread can allocate before its next sample point, the byte whose block is
   sampled. A negative number means that the point was passed, and that point() must handle it. It
   is 0 in a new thread, so that its first block calls point(), which draws the first distance. */
static __thread int64_t left __attribute__((tls_model("initial-exec")));

static __thread struct {
  Interval interval;		/* interval.period 0: point() must draw the next sample point */
  int inside;		/* > 0: this thread runs code of this file; nothing is sampled then */
  int resolving;	/* 1: this thread is inside malloc_resolve() */
} thread __attribute__((tls_model("initial-exec")));

/* {== watched blocks ==================================================== */

#define NEARLOG		14	/* log2 of the bytes of address space per element of 'near[]' */
#define NNEAR		(1u << 20)	/* number of elements of 'near[]' */
#define BUCKETLOG	14	/* log2 of the number of buckets */
#define WAYS		8	/* blocks per bucket */

/* near[i] is the number of watched blocks at certain addresses: in the i-th 16 KiB of each 16 GiB
   of the address space. If it is 0, free() skips all other tests. For addresses of the arena, which
   free() must not pass to the real allocator, it is never 0. */
static uint16_t near[NNEAR];
/* States of the watched blocks, such as MALLOC_ALIVE, one byte each. */
static unsigned char slots[MALLOC_SLOTS];
static unsigned char *malloc_watch (void *block);
static void renew (void);
static uint32_t nextslot;	/* index in 'slots' where the next search for a free slot starts */
#define TRIES	512u		/* largest number of slots that a search for a free one tests */

/* A bucket of the hash table of watched blocks. A block is stored in one of two buckets
   (bucketof). */
typedef struct Bucket {
  const void *block[WAYS];	/* addresses of watched blocks; NULL: free element */
} Bucket;

static Bucket buckets[1u << BUCKETLOG];
/* numbers[b][i] is the index in 'slots' of the block buckets[b].block[i]. */
static uint16_t numbers[1u << BUCKETLOG][WAYS];

SHOWN MallocSeam asamp_mallocs = {
  MALLOC_VERSION, MALLOC_PERIOD, 0, slots, 0, NULL, malloc_watch, renew
};

/* Returns the element of 'near[]' for the address of a block. */
static inline uint16_t *nearof (const void *block) {
  return &near[((uintptr_t)block >> NEARLOG) & (NNEAR - 1)];
}

/* Returns the index of the first or, if 'second' is 1, of the second bucket in which a block may be
   stored. */
static uint32_t bucketof (const void *block, int second) {
  uint64_t h = ((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15);
  return (uint32_t)(h >> (second ? 20 : 64 - BUCKETLOG)) & ((1u << BUCKETLOG) - 1);
}

/* Stores the address of a block, with the index 'number' of its slot, in one of the block's two
   buckets. Returns 0 if both are full. */
static int malloc_put (const void *block, uint16_t number) {
  int second, i;
  for (second = 0; second < 2; second++) {
    uint32_t b = bucketof(block, second);
    for (i = 0; i < WAYS; i++) {
      const void *none = NULL;
      if (__atomic_compare_exchange_n(&buckets[b].block[i], &none, block, 0,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        __atomic_store_n(&numbers[b][i], number, __ATOMIC_RELAXED);
        __atomic_add_fetch(nearof(block), 1, __ATOMIC_RELEASE);
        return 1;
      }
    }
  }
  return 0;
}

/* Removes a block from its bucket and returns its slot; NULL: the block is not watched. Tests for a
   NULL block first, because the free elements of a bucket are NULL, too. */
static unsigned char *malloc_take (const void *block) {
  int second, i;
  if (block == NULL) return NULL;
  for (second = 0; second < 2; second++) {
    uint32_t b = bucketof(block, second);
    for (i = 0; i < WAYS; i++) {
      uint16_t number;
      if (__atomic_load_n(&buckets[b].block[i], __ATOMIC_RELAXED) != block) continue;
      number = __atomic_load_n(&numbers[b][i], __ATOMIC_RELAXED);
      __atomic_store_n(&buckets[b].block[i], NULL, __ATOMIC_RELEASE);
      __atomic_sub_fetch(nearof(block), 1, __ATOMIC_RELAXED);
      return &slots[number];
    }
  }
  return NULL;
}

/* Marks the slot of a freed block as dead, or as free if the sampler has given the slot up (MA3).
   Then increments 'deaths', whose change makes the sampler search for dead slots. */
static void died (unsigned char *slot) {
  unsigned char alive = MALLOC_ALIVE;
  if (!__atomic_compare_exchange_n(slot, &alive, MALLOC_DEAD, 0, __ATOMIC_RELEASE,
                                   __ATOMIC_RELAXED))
    __atomic_store_n(slot, MALLOC_FREE, __ATOMIC_RELEASE);
  __atomic_add_fetch(&asamp_mallocs.deaths, 1, __ATOMIC_RELEASE);
}

/* Watches a block and returns its slot. Returns NULL if none of the next TRIES slots is free, or if
   both buckets of the block are full. */
static unsigned char *malloc_watch (void *block) {
  uint32_t i, first = __atomic_add_fetch(&nextslot, 1, __ATOMIC_RELAXED);
  for (i = 0; i < TRIES; i++) {
    uint16_t number = (uint16_t)(first + i);
    unsigned char none = MALLOC_FREE;
    if (__atomic_load_n(&slots[number], __ATOMIC_RELAXED) != MALLOC_FREE ||
        !__atomic_compare_exchange_n(&slots[number], &none, MALLOC_ALIVE, 0,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&nextslot, number, __ATOMIC_RELAXED);
    if (malloc_put(block, number)) return &slots[number];
    __atomic_store_n(&slots[number], MALLOC_FREE, __ATOMIC_RELAXED);
    return NULL;
  }
  return NULL;
}

/* }===================================================================== */

/* {== sample points ===================================================== */

/* Reads a decimal number and moves *text to its end. Does not use strtoull, which might allocate
   memory. */
static uint64_t malloc_number (const char **text) {
  uint64_t n = 0;
  while (**text >= '0' && **text <= '9') n = n * 10 + (uint64_t)(*(*text)++ - '0');
  return n;
}

/* Returns the seed of the sample points of all threads, MallocSeam.seed. If that is 0, first stores
   a random seed there. */
static uint64_t seedof (void) {
  uint64_t seed = __atomic_load_n(&asamp_mallocs.seed, __ATOMIC_RELAXED);
  if (seed == 0) {
    struct timespec t;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
      clock_gettime(CLOCK_MONOTONIC, &t);
      seed = (uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 32;
    }
    seed |= 1;
    __atomic_store_n(&asamp_mallocs.seed, seed, __ATOMIC_RELAXED);
  }
  return seed;
}

/* Sets the mean distance of this thread's sample points, in bytes. The first call seeds the
   thread's random generator. */
static void malloc_start (uint64_t period) {
  static uint64_t threads;
  uint64_t turn = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  if (thread.interval.state == 0)
    interval_open(&thread.interval, period, 1, seedof() + turn * UINT64_C(0xD1342543DE82EF95));
  thread.interval.period = period;
}

/* Makes the next allocation of this thread call point(), which draws a new distance to a sample
   point. */
static void renew (void) {
  thread.interval.period = 0;
  left = 0;
}

/* Handles a request of n bytes that has made 'left' (the bytes to the next sample point) negative.
   Passes the block to the sampler if it contains a sample point, and sets 'left' for the next one.
   'block' NULL: the request failed. Preserves errno. */
static COLD void point (void *block, size_t n) {
  uint64_t period, count = 0, over, distance;
  void (*sampled) (void *, uint64_t, uint64_t);
  int e = errno;
  /* If thread.inside > 0, code of this file runs, so nothing is sampled. If left >= 0, the sample
     point was handled already: the real allocator has called another function of this file, whose
     call of point() has set 'left' anew. */
  if (thread.inside || left >= 0) return;
  thread.inside = 1;
  period = __atomic_load_n(&asamp_mallocs.period, __ATOMIC_RELAXED);
  sampled = __atomic_load_n(&asamp_mallocs.sampled, __ATOMIC_ACQUIRE);
  if (period < INTERVAL_MIN) {
    thread.interval.period = 0;
    left = INT64_MAX >> 16;
  }
  else {
    if (thread.interval.period == period) {
      over = (uint64_t)(-left - 1);
      count = interval_pass(&thread.interval, over, &distance);
    }
    else {  /* the period has changed: the first new sample point may be in this block */
      malloc_start(period);
      distance = interval_first(&thread.interval);
      if (distance <= n)
        count = interval_pass(&thread.interval, n - distance, &distance);
      else distance -= n;
    }
    if (count > 0 && block != NULL && sampled != NULL) sampled(block, n, count);
    left = (int64_t)(distance - 1);
  }
  errno = e;
  thread.inside = 0;
}

/* Subtracts a request of n bytes from 'left', the bytes to the next sample point. Returns 1 if the
   request passes that point; then call point(). Uses only the low 48 bits of n, because the real
   allocator refuses larger requests. */
static inline int malloc_passes (size_t n) {
  left -= (int64_t)(n << 16 >> 16);
  return unlikely(left < 0);
}

static COLD void *passed (void *block, size_t n) {
  point(block, n);
  return block;
}

/* }===================================================================== */

/* {== the real allocator, which this library calls ====================== */

/* The functions that 'real' contains at first: each finds the real allocator with dlsym and calls
   it. If dlsym itself allocates, there are nested calls: in these, malloc, calloc and realloc use
   the arena, free does nothing, and the others fail. */
static void *bootmalloc (size_t n);
static void *bootcalloc (size_t n, size_t size);
static void *bootrealloc (void *p, size_t n);
static void bootfree (void *p);
static void *bootmemalign (size_t alignment, size_t n);
static void *bootaligned (size_t alignment, size_t n);
static int bootposix (void **to, size_t alignment, size_t n);
static void *bootvalloc (size_t n);

typedef struct Real {
  void *(*malloc) (size_t n);
  void *(*calloc) (size_t n, size_t size);
  void *(*realloc) (void *p, size_t n);
  void (*free) (void *p);
  void *(*memalign) (size_t alignment, size_t n);
  void *(*aligned_alloc) (size_t alignment, size_t n);
  int (*posix_memalign) (void **to, size_t alignment, size_t n);
  void *(*valloc) (size_t n);
} Real;

static Real real = {
  bootmalloc, bootcalloc, bootrealloc, bootfree, bootmemalign, bootaligned, bootposix,
  bootvalloc
};

#define ARENA	(32u << 10)	/* bytes of the arena */

static char arena[ARENA] __attribute__((aligned(16)));
static size_t arenaused;

/* Allocates n bytes from the arena, and stores the number n 16 bytes before the block. Returns NULL
   if the arena is full. */
static void *fromarena (size_t n) {
  size_t size = (n + 31) & ~(size_t)15, at;
  if (n > ARENA) return NULL;
  at = __atomic_fetch_add(&arenaused, size, __ATOMIC_RELAXED);
  if (at + size > ARENA) return NULL;
  memcpy(arena + at, &n, sizeof(n));
  return arena + at + 16;
}

static inline int isarena (const void *p) {
  return (uintptr_t)p - (uintptr_t)arena < ARENA;
}

static void *symbol (const char *name) {
  return dlsym(RTLD_NEXT, name);
}

/* Reads ASAMP_MALLOC and finds the real allocator; ends the process if there is none. Returns 0 in
   a nested call, which happens when dlsym allocates memory. */
static COLD int malloc_resolve (void) {
  Real r;
  const char *text = getenv("ASAMP_MALLOC");
  size_t i;
  if (thread.resolving) return 0;
  thread.resolving = 1;
  /* Adds 1 to the elements of near[] for addresses of the arena: free and realloc test whether a
     block is watched or in the arena (isarena) only if its element is not 0. */
  for (i = 0; i < ARENA; i += (size_t)1 << NEARLOG)
    __atomic_add_fetch(nearof(arena + i), 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(nearof(arena + ARENA - 1), 1, __ATOMIC_RELAXED);
  if (text != NULL) {
    asamp_mallocs.period = malloc_number(&text);
    if (*text == ',') {
      text++;
      asamp_mallocs.seed = malloc_number(&text);
    }
  }
  r.malloc = symbol("malloc");
  r.calloc = symbol("calloc");
  r.realloc = symbol("realloc");
  r.free = symbol("free");
  r.memalign = symbol("memalign");
  r.aligned_alloc = symbol("aligned_alloc");
  r.posix_memalign = symbol("posix_memalign");
  r.valloc = symbol("valloc");
  if (r.malloc == NULL || r.calloc == NULL || r.realloc == NULL || r.free == NULL) {
    static const char text_[] =
      "asamp: cannot sample native memory: no library of the program has malloc, calloc, realloc "
      "and free; run the program without --malloc\n";
    (void)!write(2, text_, sizeof(text_) - 1);
    abort();
  }
  real = r;
  thread.resolving = 0;
  return 1;
}

static void *bootmalloc (size_t n) {
  return malloc_resolve() ? real.malloc(n) : fromarena(n);
}

static void *bootcalloc (size_t n, size_t size) {
  size_t all;
  if (malloc_resolve()) return real.calloc(n, size);
  /* The block is zero, because no part of the arena is used twice. */
  return __builtin_mul_overflow(n, size, &all) ? NULL : fromarena(all);
}

/* Handles realloc until the real allocator is found. 'p' is always NULL: until then all blocks are
   in the arena, and reallocwatched resizes these. */
static void *bootrealloc (void *p, size_t n) {
  return malloc_resolve() ? real.realloc(p, n) : fromarena(n);
}

static void bootfree (void *p) {
  if (malloc_resolve()) real.free(p);
}

static void *bootmemalign (size_t alignment, size_t n) {
  return malloc_resolve() ? real.memalign(alignment, n) : NULL;
}

static void *bootaligned (size_t alignment, size_t n) {
  return malloc_resolve() ? real.aligned_alloc(alignment, n) : NULL;
}

static int bootposix (void **to, size_t alignment, size_t n) {
  return malloc_resolve() ? real.posix_memalign(to, alignment, n) : ENOMEM;
}

static void *bootvalloc (size_t n) {
  return malloc_resolve() ? real.valloc(n) : NULL;
}

/* }===================================================================== */

/* {== malloc, free and the like, which the program calls ================ */

/* Frees a block that may be watched or in the arena. */
static COLD void freewatched (void *p, void (*release) (void *)) {
  unsigned char *slot;
  if (isarena(p)) return;
  slot = malloc_take(p);
  if (slot != NULL) died(slot);
  release(p);
}

SHOWN void free (void *p) {
  if (unlikely(__atomic_load_n(nearof(p), __ATOMIC_RELAXED) != 0))
    freewatched(p, real.free);
  else real.free(p);
}

/* Calls the real function, which allocates while it holds a lock. These allocations are not
   sampled: the sampler itself calls pthread_getattr_np for a sample, which would wait for this lock
   for ever. If the allocations pass a sample point, the next block is sampled instead. */
SHOWN int pthread_getattr_np (pthread_t of, pthread_attr_t *to) {
  static int (*next) (pthread_t, pthread_attr_t *);
  int (*f) (pthread_t, pthread_attr_t *) = __atomic_load_n(&next, __ATOMIC_RELAXED);
  int e, before = thread.inside;
  if (f == NULL) {
    f = (int (*) (pthread_t, pthread_attr_t *))(uintptr_t)symbol("pthread_getattr_np");
    if (f == NULL) return ENOSYS;
    __atomic_store_n(&next, f, __ATOMIC_RELAXED);
  }
  thread.inside = 1;
  e = f(of, to);
  thread.inside = before;
  return e;
}

SHOWN void *malloc (size_t n) {
  return malloc_passes(n) ? passed(real.malloc(n), n) : real.malloc(n);
}

SHOWN void *calloc (size_t n, size_t size) {
  size_t all;
  if (unlikely(__builtin_mul_overflow(n, size, &all))) return real.calloc(n, size);
  return malloc_passes(all) ? passed(real.calloc(n, size), all) : real.calloc(n, size);
}

/* Returns a new block of n bytes with the content of a block of the arena. The new block is not
   counted: the caller must call malloc_passes. */
static void *fromarenato (void *p, size_t n) {
  size_t before;
  void *q = real.malloc(n);
  memcpy(&before, (char *)p - 16, sizeof(before));
  if (q != NULL) memcpy(q, p, before < n ? before : n);
  return q;
}

/* Reallocates a block that may be watched or in the arena. A watched block counts as freed. If
   realloc fails, the block remains watched. */
static COLD void *reallocwatched (void *p, size_t n) {
  unsigned char *slot;
  void *q;
  if (isarena(p)) return fromarenato(p, n);
  slot = malloc_take(p);
  q = real.realloc(p, n);
  if (slot == NULL) return q;
  if (q != NULL || n == 0 || !malloc_put(p, (uint16_t)(slot - slots))) died(slot);
  return q;
}

/* Counts a realloc as a free and an allocation. */
SHOWN void *realloc (void *p, size_t n) {
  if (p != NULL && unlikely(__atomic_load_n(nearof(p), __ATOMIC_RELAXED) != 0))
    p = reallocwatched(p, n);
  else p = real.realloc(p, n);
  return malloc_passes(n) ? passed(p, n) : p;
}

SHOWN void *reallocarray (void *p, size_t n, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(n, size, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(p, all);
}

SHOWN void *memalign (size_t alignment, size_t n) {
  void *p = real.memalign(alignment, n);
  return malloc_passes(n) ? passed(p, n) : p;
}

SHOWN void *aligned_alloc (size_t alignment, size_t n) {
  void *p = real.aligned_alloc(alignment, n);
  return malloc_passes(n) ? passed(p, n) : p;
}

SHOWN int posix_memalign (void **to, size_t alignment, size_t n) {
  int e = real.posix_memalign(to, alignment, n);
  if (e == 0 && malloc_passes(n)) point(*to, n);
  return e;
}

SHOWN void *valloc (size_t n) {
  void *p = real.valloc(n);
  return malloc_passes(n) ? passed(p, n) : p;
}

SHOWN void *pvalloc (size_t n) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (n + page - 1) & ~(page - 1);
  return valloc(all < n ? n : all != 0 ? all : page);
}

/* }===================================================================== */

/* {== C++'s operators =================================================== */

/* Replaces C++'s operators new without an alignment if no loaded library defines them. (alignednew
   replaces those with an alignment.) Returns NULL if out of memory, because an exception needs a
   C++ library. */
static void *plainnew (size_t n) {
  return malloc(n > 0 ? n : 1);
}

static void *alignednew (size_t n, size_t alignment) {
  return aligned_alloc(alignment, (n + alignment - 1) & ~(alignment - 1));
}

/* Returns the real C++ operator 'name': the next one in the loader's order, else that of a C++
   library that a plugin has loaded, else a replacement. */
static COLD void *operator_ (const char *name) {
  static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
  void *p;
  size_t i;
  thread.inside++;
  p = symbol(name);
  for (i = 0; i < 2 && p == NULL; i++) {
    void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) p = dlsym(handle, name);
  }
  thread.inside--;
  if (p != NULL) return p;
  if (name[2] == 'd') return (void *)(uintptr_t)free;
  return strstr(name, "align_val") != NULL ? (void *)(uintptr_t)alignednew
                                           : (void *)(uintptr_t)plainnew;
}

/* Declares f, the C++ library's own operator 'name' (such as operator new), which this library
   replaces. Searches for it at the first use only. */
#define FIND(type, name)  \
  static type to;  \
  type f = __atomic_load_n(&to, __ATOMIC_RELAXED);  \
  if (unlikely(f == NULL))  \
    __atomic_store_n(&to, f = (type)operator_(name), __ATOMIC_RELAXED)

/* Evaluates 'call', a call of the C++ library's operator, counts its block of n bytes, and returns
   the block. Does not count the block if 'left', the bytes until the next sample, has changed: then
   the operator has called malloc, which has counted it already. */
#define COUNT(call, n)  \
  int64_t before = left;  \
  void *p = call;  \
  if (left == before && malloc_passes(n)) point(p, n);  \
  return p

/* Stops watching the block p if it is watched, and evaluates 'call', a call of the real
   operator. */
#define RELEASE(call, p)  \
  if (unlikely(__atomic_load_n(nearof(p), __ATOMIC_RELAXED) != 0)) {  \
    unsigned char *slot = malloc_take(p);  \
    if (slot != NULL) died(slot);  \
  }  \
  call

/* Types of C++'s operators. The second and third parameters are sizes, alignments or references to
   std::nothrow. A parameter of type size_t also receives such a reference, because both are passed
   alike. */
typedef void *(*New) (size_t);
typedef void *(*New2) (size_t, size_t);
typedef void *(*New3) (size_t, size_t, const void *);
typedef void (*Delete) (void *);
typedef void (*Delete2) (void *, size_t);
typedef void (*Delete3) (void *, size_t, size_t);

#define NEW(name) SHOWN void *name (size_t n) {  \
  FIND(New, #name); COUNT(f(n), n); }
#define NEW2(name) SHOWN void *name (size_t n, size_t a) {  \
  FIND(New2, #name); COUNT(f(n, a), n); }
#define NEW3(name) SHOWN void *name (size_t n, size_t a, const void *b) {  \
  FIND(New3, #name); COUNT(f(n, a, b), n); }
#define DELETE(name) SHOWN void name (void *p) {  \
  FIND(Delete, #name); RELEASE(f(p), p); }
#define DELETE2(name) SHOWN void name (void *p, size_t a) {  \
  FIND(Delete2, #name); RELEASE(f(p, a), p); }
#define DELETE3(name) SHOWN void name (void *p, size_t a, size_t b) {  \
  FIND(Delete3, #name); RELEASE(f(p, a, b), p); }

/* Names of the Itanium C++ ABI: nw and dl are new and delete of one object, na and da those of an
   array. */
NEW(_Znwm) NEW(_Znam)
NEW2(_ZnwmRKSt9nothrow_t) NEW2(_ZnamRKSt9nothrow_t)
NEW2(_ZnwmSt11align_val_t) NEW2(_ZnamSt11align_val_t)
NEW3(_ZnwmSt11align_val_tRKSt9nothrow_t) NEW3(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv) DELETE(_ZdaPv)
DELETE2(_ZdlPvm) DELETE2(_ZdaPvm)
DELETE2(_ZdlPvRKSt9nothrow_t) DELETE2(_ZdaPvRKSt9nothrow_t)
DELETE2(_ZdlPvSt11align_val_t) DELETE2(_ZdaPvSt11align_val_t)
DELETE3(_ZdlPvmSt11align_val_t) DELETE3(_ZdaPvmSt11align_val_t)
DELETE3(_ZdlPvSt11align_val_tRKSt9nothrow_t) DELETE3(_ZdaPvSt11align_val_tRKSt9nothrow_t)

/* }===================================================================== */
