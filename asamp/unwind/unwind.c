/* SPDX-License-Identifier: MIT */
/* Walks the C stack (unwind.h). */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "unwind.h"

#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "descriptor.h"
#include "native.h"
#include "readable.h"
#include "threadlocals.h"

#define FORK_NS	100000000	/* longest time, in ns, that a fork waits for walks on other
                                   threads; limited, because a walking thread may itself wait
                                   for a lock of the forking thread */
#define FORK_NAP	50000	/* ns between two attempts of a fork to lock 'walking' */

/* Locked by a thread while libunwind walks its stack. A fork takes this lock, so that libunwind's
   own locks are free in the child, where no thread could release them. Recursive, because functions
   that libunwind calls may start a walk. */
static pthread_mutex_t walking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* 1: this thread has locked 'walking' for a fork, and unlocks it after the fork */
static __thread int waited __attribute__((tls_model("initial-exec")));

/* Locks 'walking' before a fork, or gives up after FORK_NS. Does not call pthread_mutex_timedlock,
   because that waits until a time of CLOCK_REALTIME, which may be set back meanwhile. */
static void forking (void) {
  const struct timespec nap = {0, FORK_NAP};
  const uint64_t started = clock_now();
  while (!(waited = (pthread_mutex_trylock(&walking) == 0)) && clock_since(started) < FORK_NS)
    nanosleep(&nap, NULL);
}

static void parted (void) {
  if (!waited) return;
  waited = 0;
  pthread_mutex_unlock(&walking);
}

static void unwind_forked (void) {
  walking = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  waited = 0;
}

static void unwind_watch (void) {
  pthread_atfork(forking, parted, unwind_forked);
}

static int bylibunwind (void **to, int max) {
  static __thread int ready __attribute__((tls_model("initial-exec")));
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  int i, n;
  if (!ready && !threadlocals_room()) return 0;
  ready = 1;
  pthread_once(&control, unwind_watch);
  readable_use();
  readable_forget();
  pthread_mutex_lock(&walking);
  n = unw_backtrace(to, max);
  pthread_mutex_unlock(&walking);
  for (i = 0; i < n; i++) to[i] = (void *)UNWIND_ADDRESS(to[i]);
  return n;
}

/* Initializes libunwind by a walk. libunwind then keeps 300 KB and two descriptors until the end of
   the process. */
static void prime (void) {
  void *some[UNWIND_OWN];
  descriptor_hold();
  bylibunwind(some, UNWIND_OWN);
  descriptor_release();
}

/* Returns 1 if the call instruction before the return address 'ip' lies between u->from and u->to.
   The walk starts at the frame of this call. */
static int isstart (const Unwind *u, uintptr_t ip) {
  return (uintptr_t)u->from < ip && ip <= (uintptr_t)u->to;
}

/* Does the walk again from its start, with libunwind. Stores up to 'max' return addresses in 'a',
   which must have space for UNWIND_OWN more, and returns their number. Sets u->ended to 1 if the
   number is below 'max', because the stack has no further frames; else to 0. */
static int unwind_again (Unwind *u, void **a, int max) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  int all, i = 0, n;
  pthread_once(&control, prime);
  all = bylibunwind(a, max + UNWIND_OWN);
  while (i < all && !isstart(u, (uintptr_t)a[i])) i++;
  n = (all - i < max) ? all - i : max;
  memmove(a, a + i, (size_t)n * sizeof(*a));
  u->ended = (all < max + UNWIND_OWN && n < max);
  return n;
}

#if defined(__x86_64__) || defined(__aarch64__)

#define SOME	4	/* largest number of frames that a call of unwind_more adds if all of them
                           have rules; with libunwind, it adds more */

static const UnwindRule *firstof (const UnwindRules *u, uintptr_t ip) {
  uint64_t hash = ip * UINT64_C(0x9E3779B97F4A7C15);
  return &u->rule[hash >> (64 - UNWIND_LOG)];
}

/* Returns the rule of the call site with return address 'ip', or NULL. */
static inline const UnwindRule *unwind_find (const UnwindRules *u, uintptr_t ip) {
  const UnwindRule *r = firstof(u, ip), *last = r + UNWIND_NEAR - 1;
  while (r->ip != ip) {
    if (r->ip == 0 || r == last) return NULL;
    r++;
  }
  return r;
}

__attribute__((noinline))
static const UnwindRule *learn (UnwindRules *u, uintptr_t ip) {
  UnwindRule *first = &u->rule[firstof(u, ip) - u->rule], *r = first;
  NativeFrame f;
  unsigned loads = native_frame((uint64_t)ip - 1, &f);  /* ip - 1 is in the call instruction. ip may
                                                           already be in the next function, if the
                                                           call does not return. */
  if (loads != u->loads && u->loads != 0) memset(u->rule, 0, sizeof(u->rule));
  u->loads = loads;
  while (r->ip != 0 && r != first + UNWIND_NEAR - 1) r++;
  if (r->ip != 0) r = first + (u->turn++ & (UNWIND_NEAR - 1));
  r->ip = ip;
  r->size = f.size;
  r->saved = f.saved;
  r->base = (unsigned char)f.base;
  return r;
}

#if defined(__x86_64__)

#define RETURNAT(frame,r)		((frame) - sizeof(uintptr_t))
#define ISWITHIN(at,sp,frame)		1  /* always: the return address is stored just below the
                                              start of the caller's frame */
#define UNSIGNED(address)		(address)

#else

#define RETURNAT(frame,r) \
  ((frame) + (uintptr_t)(intptr_t)(r)->saved + sizeof(uintptr_t))
#define ISWITHIN(at,sp,frame)		((sp) <= (at) && (at) < (frame))

/* Returns a return address without its signature (pointer authentication). */
static inline uintptr_t UNSIGNED (uintptr_t address) {
  register uintptr_t ip __asm__("x30") = address;
  /* xpaclri: clears the signature bits of x30; does nothing on processors without signatures */
  __asm__("hint #7" : "+r"(ip));
  return ip;
}

#endif

/* Replaces *f by its caller's frame, as described by rule r. Returns 0 if the rule cannot be used;
   then libunwind must find the caller's frame. 'end': highest address of the stack. 'careful' 1:
   reads only memory that readable_word has checked. */
__attribute__((no_sanitize_address, always_inline))
static inline int step (UnwindFrame *f, const UnwindRule *r, const char *end,
                        int careful) {
  uintptr_t frame, back;  /* 'frame': start of the caller's frame; 'back': address at which the
                             return address is stored */
  if (r->base == NATIVE_OUTERMOST) {
    f->ip = 0;
    return 1;
  }
  if (r->base == NATIVE_OTHER) return 0;
  frame = ((r->base == NATIVE_FP) ? f->fp : f->sp) + (uintptr_t)(intptr_t)r->size;
  if (frame <= f->sp || frame > (uintptr_t)end || frame % sizeof(frame) != 0)
    /* the caller's frame would not be at a higher address, or would be outside the stack */
    return 0;
  back = RETURNAT(frame, r);
  if (!ISWITHIN(back, f->sp, frame) || (careful && !readable_word(back))) return 0;
  if (r->saved != 0) {
    uintptr_t at = frame + (uintptr_t)(intptr_t)r->saved;
    if (at < f->sp || at >= frame || (careful && !readable_word(at))) return 0;
    f->fp = *(const uintptr_t *)at;
  }
  f->ip = UNSIGNED(*(const uintptr_t *)back);
  f->sp = frame;
  return 1;
}

int unwind_learn (UnwindRules *u, uintptr_t ip) {
  if (unwind_find(u, ip) != NULL) return 0;
  learn(u, ip);
  return 1;
}

int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max) {
  int n = 0;
  while (f->ip != 0 && n < max) {
    const UnwindRule *r = unwind_find(u, f->ip);
    uintptr_t ip = f->ip;
    if (r == NULL || !step(f, r, end, 1)) break;
    addresses[n++] = (void *)ip;
  }
  return n;
}

static inline void unwind_next (Unwind *u) {
  const UnwindRule *r = unwind_find(&u->rules, u->next.ip);
  if (r == NULL) r = learn(&u->rules, u->next.ip);
  u->otherwise = !step(&u->next, r, u->end, 0);
  u->ended = (u->next.ip == 0);
}

#if defined(LUAN_DEBUG)

/* Compares the n addresses of a walk with the first n addresses of libunwind's walk. Aborts if they
   differ. */
static void compare (Unwind *u, void *const *a, int n) {
  void **b = malloc((size_t)(n + UNWIND_OWN) * sizeof(*b));
  int ended = u->ended, i = 0, m;
  if (b == NULL) return;
  m = unwind_again(u, b, n);
  while (i < n && i < m && a[i] == b[i]) i++;
  if (i < n || m != n) {
    fprintf(stderr, "unwind: walks by rules (%d frames) and libunwind (%d frames) differ\n", n, m);
    abort();
  }
  u->ended = ended;
  free(b);
}

/* Checks that libunwind finds the same n frames as the walk. If n is above 64, checks only once per
   512 frames and at the end of the walk, because libunwind starts at the innermost frame each
   time. */
static void unwind_check (Unwind *u, void *const *a, int n) {
  if (n <= 64 || n % 512 < SOME || u->ended) compare(u, a, n);
}

#else
#define unwind_check(u,a,n)	((void)0)
#endif

__attribute__((noinline))
void unwind_start (Unwind *u, const char *from, const char *to, const char *end) {
  /* this function's frame: the first word is the caller's frame pointer */
  const uintptr_t *frame = __builtin_frame_address(0);
  u->from = from;
  u->to = to;
  u->end = end;
  u->next.fp = frame[0];
  u->next.ip = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
  u->next.sp = (uintptr_t)__builtin_dwarf_cfa();
  u->ended = u->otherwise = 0;
  while (!isstart(u, u->next.ip) && !u->ended && !u->otherwise) unwind_next(u);
  u->otherwise |= u->ended;
}

int unwind_more (Unwind *u, void **addresses, int n, int room) {
  int most = (n + SOME < room - UNWIND_OWN) ? n + SOME : room - UNWIND_OWN;
  if (u->ended) return n;
  while (!u->otherwise && !u->ended && n < most) {
    addresses[n++] = (void *)u->next.ip;
    unwind_next(u);
  }
  if (u->otherwise) {
    most = (2 * n + 16 < room - UNWIND_OWN) ? 2 * n + 16 : room - UNWIND_OWN;
    return unwind_again(u, addresses, most);
  }
  unwind_check(u, addresses, n);
  return n;
}

#else

void unwind_start (Unwind *u, const char *from, const char *to, const char *end) {
  u->from = from;
  u->to = to;
  u->end = end;
  u->ended = 0;
}

int unwind_more (Unwind *u, void **addresses, int n, int room) {
  int most = (2 * n + 16 < room - UNWIND_OWN) ? 2 * n + 16 : room - UNWIND_OWN;
  return u->ended ? n : unwind_again(u, addresses, most);
}

int unwind_learn (UnwindRules *u, uintptr_t ip) {
  (void)u; (void)ip;
  return 0;
}

int unwind_known (const UnwindRules *u, UnwindFrame *f, const char *end,
                  void **addresses, int max) {
  (void)u; (void)f; (void)end; (void)addresses; (void)max;
  return 0;
}

#endif
