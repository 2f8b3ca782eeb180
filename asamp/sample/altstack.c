/* SPDX-License-Identifier: MIT */
/* Provides alternate signal stacks (altstack.h). */
#define _GNU_SOURCE
#include "altstack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ	51
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM	(1U << 31)
#endif

#define FRAME	((size_t)4096)	/* Size of a signal frame in bytes if the kernel does not report it
                                   (AT_MINSIGSTKSZ). */

static pthread_key_t key;	/* Its value in each thread: the mapping of the profiler's alternate
                                   stack, or NULL. */
static int iskey;

/* Returns the size of the largest signal frame in bytes. */
static size_t framesize (void) {
  size_t n = (size_t)getauxval(AT_MINSIGSTKSZ);
  return (n == 0) ? FRAME : n;
}

static size_t pagesize (void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the size in bytes of the mapping of an alternate stack, with the inaccessible page below
   the stack. */
static size_t wholesize (void) {
  size_t page = pagesize();
  return (framesize() + ALTSTACK_BYTES + page - 1) / page * page + page;
}

/* Called at the end of a thread, with the mapping of its alternate stack: disables and unmaps the
   stack. Does nothing if this function runs on that stack. */
static void threadends (void *p) {
  char *map = p, *here = __builtin_frame_address(0);
  stack_t s, none;
  memset(&none, 0, sizeof(none));
  none.ss_flags = SS_DISABLE;
  if (here > map && here < map + wholesize()) return;
  if (sigaltstack(NULL, &s) == 0 && s.ss_sp == map + pagesize())
    sigaltstack(&none, NULL);
  munmap(map, wholesize());
}

static void altstack_once (void) {
  iskey = (pthread_key_create(&key, threadends) == 0);
}

static int altstack_failed (char *err, size_t errsize) {
  snprintf(err, errsize, errno == ENOMEM ?
           "cannot sample time: cannot create the stack for signal handlers: %s; raise the memory "
           "limit (ulimit -v)" :
           "cannot sample time: cannot create the stack for signal handlers: %s; set 'time' to 0",
           strerror(errno));
  return 0;
}

static int set (char *map, char *err, size_t errsize) {
  stack_t s;
  memset(&s, 0, sizeof(s));
  s.ss_sp = map + pagesize();
  s.ss_size = wholesize() - pagesize();
  s.ss_flags = (int)SS_AUTODISARM;
  if (sigaltstack(&s, NULL) == 0) return 1;
  s.ss_flags = 0;  /* before Linux 4.7, SS_AUTODISARM fails */
  if (sigaltstack(&s, NULL) == 0) return 1;
  return altstack_failed(err, errsize);
}

/* Maps a stack and sets it as the thread's alternate stack. Does nothing if an earlier call has
   done this for the thread: while a handler runs on that stack, sigaltstack reports no stack (AS3),
   and altstack_use calls this function again. Returns 0 on failure, with the reason in 'err' and
   errno. */
static int give (char *err, size_t errsize) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  char *map;
  pthread_once(&control, altstack_once);
  if (iskey && pthread_getspecific(key) != NULL) return 1;
  map = mmap(NULL, wholesize(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) return altstack_failed(err, errsize);
  errno = iskey ? 0 : EAGAIN;
  if (mprotect(map, pagesize(), PROT_NONE) != 0 || !iskey ||
      (errno = pthread_setspecific(key, map)) != 0) {
    altstack_failed(err, errsize);
    munmap(map, wholesize());
    return 0;
  }
  if (set(map, err, errsize)) return 1;
  pthread_setspecific(key, NULL);  /* so that threadends does not unmap the stack again */
  munmap(map, wholesize());
  return 0;
}

int altstack_use (size_t least, char *err, size_t errsize) {
  size_t frame = framesize();
  stack_t s;
  if (sigaltstack(NULL, &s) != 0) return altstack_failed(err, errsize);
  if (s.ss_flags & SS_DISABLE) return give(err, errsize);
  least += (frame < FRAME) ? frame : FRAME;
  if (s.ss_size >= least) return 1;
  snprintf(err, errsize, "cannot sample time: the alternate signal stack of this thread has %lu "
                         "bytes; make it %lu bytes or larger, or remove it (sigaltstack)",
           (unsigned long)s.ss_size, (unsigned long)(frame + ALTSTACK_BYTES));
  errno = EINVAL;
  return 0;
}

size_t altstack_room (const ucontext_t *context) {
  const stack_t *s = &context->uc_stack;
  uintptr_t from = (uintptr_t)s->ss_sp, here = (uintptr_t)__builtin_frame_address(0);
  /* The kernel has stored the context on the stack on which the handler runs. So the context's
     address shows whether that is the alternate stack, even after an overflow, when this function
     runs below 'from', the stack's lowest address. */
  if ((s->ss_flags & SS_DISABLE) || (uintptr_t)context - from >= s->ss_size) return SIZE_MAX;
  return here > from ? here - from : 0;
}
