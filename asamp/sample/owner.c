/* SPDX-License-Identifier: MIT */
/* Assigns native frames to Lua states (owner.h). */
#define _GNU_SOURCE
#include "owner.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "binding.h"

#define MARK	((uintptr_t)1 << 63)	/* bit that owner_mark sets in a frame's address */

/* Highest address of this OS thread's stack; NULL: not read yet, or it could not be found. */
static __thread const char *end __attribute__((tls_model("initial-exec")));
/* Lowest address of this OS thread's stack. */
static __thread const char *inmost __attribute__((tls_model("initial-exec")));

/* Finds the bounds of the stack with which the kernel has started the process: the path of the
   program (AT_EXECFN) and a word of zeros are at its highest addresses. Returns 0 if this thread
   runs on another stack, or if the stack's size is unlimited. */
static int firststack (void) {
  const char *path = (const char *)(uintptr_t)getauxval(AT_EXECFN);
  const char *here = __builtin_frame_address(0), *top;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct rlimit r;
  if (path == NULL || (pid_t)syscall(SYS_gettid) != getpid() ||
      getrlimit(RLIMIT_STACK, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
    return 0;
  top = (const char *)(((uintptr_t)path + strlen(path) + sizeof(void *) + page) / page * page);
  if (here >= top || (size_t)(top - here) >= r.rlim_cur) return 0;
  inmost = top - r.rlim_cur;
  end = top;
  return 1;
}

void owner_prime (void) {
  pthread_attr_t a;
  void *base;
  size_t size;
  /* pthread_getattr_np would read /proc/self/maps for the process's first thread */
  if (end != NULL || firststack() || pthread_getattr_np(pthread_self(), &a) != 0) return;
  if (pthread_attr_getstack(&a, &base, &size) == 0) {
    inmost = base;
    end = (char *)base + size;
  }
  pthread_attr_destroy(&a);
}

const char *owner_stackend (void) {
  return end;
}

size_t owner_room (const void *sp) {
  const char *here = sp;
  return (inmost < here && here < end) ? (size_t)(here - inmost) : 0;
}

int owner_mixed (lua_State *L) {
  luaN_Protected p = luaN_protected();
  return p.L != NULL && (p.mixed || p.L != luaN_main(L));
}

/* Replaces *p, the record of a protected call, by the record of the next call outside it. Sets
   *inner to the address of that record. If this stack has no such record, sets p->L to NULL. */
static void outwards (luaN_Protected *p, const char **inner) {
  const char *o = (const char *)p->outer;
  if (o > *inner && o + sizeof(*p) <= end) {
    *p = *p->outer;
    *inner = o;
  }
  else p->L = NULL;
}

/* Returns 1 if the call instruction before the return address 'a' is in the code range r. */
static int calledfrom (const luaN_Range *r, const void *a) {
  return owner_isin(r, (const char *)a - 1);
}

/* Returns how many of the n frames 'a' are protected calls that are not in the Lua core's list,
   because they are just starting or ending. 'p': the innermost call in the list. 'inner': an
   address in the innermost frame. */
static int unknown (const luaN_Code *code, void *const *a, int n,
                    luaN_Protected p, const char *inner) {
  int i, frames = 0;
  for (i = 0; i < n; i++) frames += calledfrom(&code->protect, a[i]);
  for (; p.L != NULL; outwards(&p, &inner)) frames--;
  return (frames > 0) ? frames : 0;
}

unsigned owner_states (const void *sp, const void **states, unsigned max) {
  luaN_Protected p = luaN_protected();
  const char *inner = sp;
  unsigned n = 0;
  for (; p.L != NULL && n < max; outwards(&p, &inner))
    if (n == 0 || states[n - 1] != p.L) states[n++] = p.L;
  return n;
}

int owner_mark (lua_State *L, const void *sp, void **a, int n, int whole) {
  const lua_State *me = luaN_main(L);
  luaN_Protected p = luaN_protected();
  const char *inner = sp;
  /* 1: the protected call that was visited last has entered L's state, or no call was visited yet.
     Frames are visited from the innermost outwards, and lua_resume makes a protected call. So
     when lua_resume is visited, 'isown' is 1 if L's state has called it. */
  int isown = 1;
  int i, m = 0, skip;
  luaN_Code code;
  luaN_code(&code);
  skip = whole ? unknown(&code, a, n, p, inner) : 0;
  for (i = 0; i < n; i++) {
    if (calledfrom(&code.protect, a[i])) {
      if (skip > 0) skip--;
      else if (p.L != NULL) {
        isown = (p.L == me);
        outwards(&p, &inner);
      }
    }
    else if (calledfrom(&code.execute, a[i]) && p.L != NULL && p.L != me) {
      a[m++] = (void *)((uintptr_t)a[i] | MARK);
      continue;
    }
    else if (calledfrom(&code.resume, a[i]) && !isown) continue;
    a[m++] = a[i];
  }
  return m;
}
