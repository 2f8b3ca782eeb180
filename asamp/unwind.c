/* SPDX-License-Identifier: MIT */
/*
** Walks of the C stack (unwind.h).
*/
#define UNW_LOCAL_ONLY
#include "unwind.h"

#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "readable.h"

__thread volatile sig_atomic_t unwind_busy;


static int bylibunwind (void **to, int max) {
  int n;
  readable_use();
  unwind_busy = 1;
  n = unw_backtrace(to, max);
  unwind_busy = 0;
  return n;
}


void unwind_prime (void) {
  void *a[16];
  bylibunwind(a, 16);
}


/* Is the call that returns to 'ip' in the code where the walk begins? */
static int isbeginning (const Unwind *u, uintptr_t ip) {
  return (uintptr_t)u->from < ip && ip <= (uintptr_t)u->to;
}


/* The walk from its beginning, 'max' addresses of it at most. */
static int again (Unwind *u, void **a, int max) {
  int all = bylibunwind(a, max + UNWIND_OWN), i = 0, n;
  while (i < all && !isbeginning(u, (uintptr_t)a[i])) i++;
  n = (all - i < max) ? all - i : max;
  memmove(a, a + i, (size_t)n * sizeof(*a));
  u->ended = (all < max + UNWIND_OWN && n < max);
  return n;
}


#if defined(__x86_64__)

#define SOME	4	/* frames that are told at a time */

__attribute__((noinline))
static void learn (Unwind *u, UnwindRule *r, uintptr_t ip) {
  NativeFrame f;
  unsigned loads;
  unwind_busy = 1;
  loads = native_frame((uint64_t)ip - 1, &f);  /* within the call */
  unwind_busy = 0;
  if (loads != u->loads) memset(u->rules, 0, sizeof(u->rules));
  u->loads = loads;
  r->ip = ip;
  r->size = f.size;
  r->saved = f.saved;
  r->base = (unsigned char)f.base;
}


static const UnwindRule *ruleof (Unwind *u, uintptr_t ip) {
  uint64_t hash = ip * UINT64_C(0x9E3779B97F4A7C15);
  UnwindRule *first = &u->rules[hash >> (64 - UNWIND_LOG)], *r = first;
  while (r->ip != ip) {
    if (r->ip == 0 || r == first + UNWIND_NEAR - 1) {
      if (r->ip != 0) r = first + (u->turn++ & (UNWIND_NEAR - 1));
      learn(u, r, ip);
      break;
    }
    r++;
  }
  return r;
}


/* From the next frame to the one outside of it. 0: a rule is missing (UW1). */
__attribute__((no_sanitize_address, always_inline))
static inline int step (Unwind *u) {
  const UnwindRule *r = ruleof(u, u->ip);
  uintptr_t frame;  /* the caller's: above its return address */
  if (r->base == NATIVE_OUTERMOST) {
    u->ended = 1;
    return 1;
  }
  if (r->base == NATIVE_OTHER) return 0;
  frame = ((r->base == NATIVE_FP) ? u->fp : u->sp) + (uintptr_t)(intptr_t)r->size;
  if (frame <= u->sp || frame > (uintptr_t)u->end || frame % sizeof(frame) != 0)
    return 0;  /* UW2 */
  if (r->saved != 0) {
    uintptr_t at = frame + (uintptr_t)(intptr_t)r->saved;
    if (at < u->sp || at >= frame) return 0;
    u->fp = *(const uintptr_t *)at;
  }
  u->ip = ((const uintptr_t *)frame)[-1];
  u->sp = frame;
  u->ended = (u->ip == 0);
  return 1;
}


#if defined(LUAN_DEBUG)

/* UW1 */
static void compare (Unwind *u, void *const *a, int n) {
  void **b = malloc((size_t)(n + UNWIND_OWN) * sizeof(*b));
  int ended = u->ended, i = 0, m = again(u, b, n);
  while (i < n && i < m && a[i] == b[i]) i++;
  if (i < n || m != n) {
    fprintf(stderr, "unwind: frame %d of %d is not that of libunwind's %d\n", i, n, m);
    abort();
  }
  u->ended = ended;
  free(b);
}


/* Of a deep stack not at every step, for libunwind begins anew. */
static void check (Unwind *u, void *const *a, int n) {
  if (n <= 64 || n % 512 < SOME || u->ended) compare(u, a, n);
}

#else
#define check(u,a,n)	((void)0)
#endif


__attribute__((noinline))
void unwind_begin (Unwind *u, const char *from, const char *to, const char *end) {
  /* of this function: the caller's frame pointer, the return address */
  const uintptr_t *frame = __builtin_frame_address(0);
  u->from = from;
  u->to = to;
  u->end = end;
  u->fp = frame[0];
  u->ip = frame[1];
  u->sp = (uintptr_t)(frame + 2);
  u->ended = u->otherwise = 0;
  while (!isbeginning(u, u->ip) && !u->ended && !u->otherwise)
    u->otherwise = !step(u);
  u->otherwise |= u->ended;
}


int unwind_more (Unwind *u, void **addresses, int n, int room) {
  int most = (n + SOME < room - UNWIND_OWN) ? n + SOME : room - UNWIND_OWN;
  if (u->ended) return n;
  while (!u->otherwise && !u->ended && n < most) {
    addresses[n++] = (void *)u->ip;
    u->otherwise = !step(u);
  }
  if (u->otherwise) {
    most = (2 * n + 16 < room - UNWIND_OWN) ? 2 * n + 16 : room - UNWIND_OWN;
    return again(u, addresses, most);
  }
  check(u, addresses, n);
  return n;
}

#else

void unwind_begin (Unwind *u, const char *from, const char *to, const char *end) {
  u->from = from;
  u->to = to;
  u->end = end;
  u->ended = 0;
}


int unwind_more (Unwind *u, void **addresses, int n, int room) {
  int most = (2 * n + 16 < room - UNWIND_OWN) ? 2 * n + 16 : room - UNWIND_OWN;
  return u->ended ? n : again(u, addresses, most);
}

#endif
