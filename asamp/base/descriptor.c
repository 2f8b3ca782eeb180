/* SPDX-License-Identifier: MIT */
/* Reserves the numbers of the standard streams, and opens files (descriptor.h). */
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STREAMS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders;
static int held[STREAMS];  /* held[i]: 1 if this file has reserved the descriptor number i */

/* Closes the reserved descriptors. Leaves a number open if its descriptor is not O_PATH: then the
   program has closed the reserved one and reused the number. */
static void drop (void) {
  int i, flags;
  for (i = 0; i < STREAMS; i++) {
    if (held[i] && (flags = fcntl(i, F_GETFL)) >= 0 && (flags & O_PATH)) close(i);
    held[i] = 0;
  }
}

/* Releases the reserved descriptor numbers in the child of a fork, which lacks the thread that
   reserved them. */
static void descriptor_forked (void) {
  pthread_mutex_init(&lock, NULL);
  holders = 0;
  drop();
}

static void descriptor_once (void) {
  pthread_atfork(NULL, NULL, descriptor_forked);
}

static int isfree (int fd) {
  return fcntl(fd, F_GETFD) == -1 && errno == EBADF;
}

/* Reserves the descriptor numbers 0, 1 and 2, except those in use. */
static void descriptor_take (void) {
  int i, fd;
  for (i = 0; i < STREAMS; i++) {
    if (!isfree(i) || (fd = open("/", O_PATH | O_CLOEXEC)) < 0) continue;
    if (fd < STREAMS) held[fd] = 1;
    else close(fd);
  }
}

void descriptor_hold (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  int e = errno;
  pthread_once(&control, descriptor_once);
  pthread_mutex_lock(&lock);
  if (holders++ == 0) descriptor_take();
  pthread_mutex_unlock(&lock);
  errno = e;
}

void descriptor_release (void) {
  int e = errno;
  pthread_mutex_lock(&lock);
  if (holders > 0 && --holders == 0) drop();
  pthread_mutex_unlock(&lock);
  errno = e;
}

int descriptor_openat (int folder, const char *path, int flags, mode_t mode) {
  int fd;
  descriptor_hold();
  fd = openat(folder, path, flags | O_CLOEXEC, mode);
  descriptor_release();
  return fd;
}

int descriptor_open (const char *path, int flags, mode_t mode) {
  return descriptor_openat(AT_FDCWD, path, flags, mode);
}

int descriptor_spare (int fd, int more) {
  int taken[DESCRIPTOR_SPARE + DESCRIPTOR_MORE], n = 0, all;
  while (n < DESCRIPTOR_SPARE + more && (taken[n] = fcntl(fd, F_DUPFD_CLOEXEC, STREAMS)) >= 0)
    n++;
  all = (n == DESCRIPTOR_SPARE + more) || (errno != EMFILE && errno != EINVAL);
  while (n > 0) close(taken[--n]);
  return all;
}

void descriptor_few (char *why, size_t size) {
  struct rlimit r = {0, 0};
  getrlimit(RLIMIT_NOFILE, &r);
  snprintf(why, size, "fewer than %d file descriptors would be left for the program; raise the "
           "limit (ulimit -n, now %llu)", DESCRIPTOR_SPARE, (unsigned long long)r.rlim_cur);
}

void descriptor_block (DescriptorSignals *s) {
  sigset_t pending;
  sigemptyset(&s->ours);
  sigpending(&pending);
  if (!sigismember(&pending, SIGPIPE)) sigaddset(&s->ours, SIGPIPE);
  if (!sigismember(&pending, SIGXFSZ)) sigaddset(&s->ours, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &s->ours, &s->before);
}

void descriptor_unblock (const DescriptorSignals *s) {
  const struct timespec now = {0, 0};
  while (sigtimedwait(&s->ours, NULL, &now) > 0) {}
  pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

int descriptor_write (int fd, const void *data, size_t n) {
  const char *p = data;
  while (n > 0) {
    ssize_t w = write(fd, p, n);
    if (w > 0) {
      p += w;
      n -= (size_t)w;
    }
    else if (w == 0) return ENOSPC;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

size_t descriptor_text (const char *path, char *to, size_t size) {
  int fd = descriptor_open(path, O_RDONLY, 0);
  ssize_t got = (fd >= 0) ? read(fd, to, size - 1) : 0;
  const size_t n = (got > 0) ? (size_t)got : 0;
  if (fd >= 0) close(fd);
  to[n] = '\0';
  return n;
}
