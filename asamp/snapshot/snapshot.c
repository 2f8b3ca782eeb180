/* SPDX-License-Identifier: MIT */
/* Snapshots of a state's heap (snapshot.h). */
#define _GNU_SOURCE
#include "heapformat.h"
#include "dump.h"
#include "snapshot.h"
#include "compressor.h"
#include "memoryleft.h"
#include "native.h"
#include "pages.h"
#include "place.h"
#include "quietfork.h"
#include "tracker.h"
#include "uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"

#define CODES_MOST	64	/* largest number of C functions whose names a snapshot stores */

/* The data of a snapshot that is being written, allocated before the fork (SN3). */
typedef struct Writer {
  Dump dump;
  Compressor compressor;
  int fd, error;	/* descriptor of the file; errno of the first failure, or 0 */
  unsigned seconds;	/* time limit; 0: none */
  uint64_t until;	/* end of the time limit, CLOCK_MONOTONIC, ns */
} Writer;

static uint64_t now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* {== bytes ============================================================ */

/* Writes n bytes to the file. If the file is a full pipe, waits until the pipe has space. After a
   failure, returns 0 and sets w->error to the errno. */
static int snapshot_put (void *ud, const unsigned char *data, size_t n) {
  Writer *w = ud;
  if (w->seconds != 0 && w->error == 0 && now(CLOCK_MONOTONIC) > w->until)
    w->error = ETIMEDOUT;
  while (n > 0 && w->error == 0) {
    ssize_t done = write(w->fd, data, n);
    if (done > 0) {
      data += done;
      n -= (size_t)done;
    }
    else if (done == 0)
      w->error = ENOSPC;
    else if (errno == EAGAIN) {
      struct pollfd ready = {w->fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    }
    else if (errno != EINTR)
      w->error = errno;
  }
  return w->error == 0;
}

/* The sink of the encoder: compresses n bytes. Returns as snapshot_put. */
static int sink (void *ud, const unsigned char *data, size_t n) {
  Writer *w = ud;
  compressor_put(&w->compressor, data, n, COMPRESSOR_MORE, snapshot_put, w);
  return w->error == 0;
}

/* Empties the file and writes the snapshot. Returns 0 or an errno. */
static int writeall (Writer *w, lua_State *L) {
  struct stat file;
  int result;
  if (fstat(w->fd, &file) == 0 && file.st_size > 0 && ftruncate(w->fd, 0) != 0)
    return errno;
  result = dump_walk(&w->dump, L);
  if (result == LUAN_WALKED)
    compressor_put(&w->compressor, (const unsigned char *)"", 0, COMPRESSOR_END, snapshot_put, w);
  return w->error != 0 ? w->error : result == LUAN_WALKED ? 0
       : result == LUAN_BUSY ? EBUSY : ENOMEM;
}

/*
** Writes the names of the C functions on the running stack of L. This happens before the fork,
** because the child cannot look names up (SN3). C functions on the stacks of suspended coroutines
** have no name.
*/
static void codes (Writer *w, lua_State *L) {
  luaN_Frame *f = malloc(LUAN_DEPTH * sizeof(*f));
  const void *written[CODES_MOST];
  size_t n = f != NULL ? luaN_frames(L, f) : 0, i, k, nwritten = 0;
  for (i = 0; i < n && nwritten < CODES_MOST; i++) {
    char name[HEAP_TEXT], file[8];
    if (f[i].id != NULL || f[i].function == NULL)
      continue;
    for (k = 0; k < nwritten && written[k] != f[i].function; ) k++;
    if (k < nwritten)
      continue;
    written[nwritten++] = f[i].function;
    native_name(NULL, (uint64_t)(uintptr_t)f[i].function, name, sizeof(name), file, sizeof(file));
    if (name[0] != '\0')
      dump_code(&w->dump, f[i].function, name);
  }
  free(f);
}

/* Writes the records that precede the objects. */
static void snapshot_head (Writer *w, lua_State *L, const SnapshotWish *wish) {
  luaN_Memory m;
  struct timespec t;
  luaN_memory(L, &m);
  clock_gettime(CLOCK_REALTIME, &t);
  dump_start(&w->dump);
  w->dump.tracker = tracker_of(L);
  w->dump.time = now(CLOCK_MONOTONIC);
  dump_number(&w->dump, "time", (uint64_t)t.tv_sec);
  dump_number(&w->dump, "pid", (uint64_t)getpid());
  dump_number(&w->dump, "inuse", m.inuse);
  dump_number(&w->dump, "held", m.held);
  dump_number(&w->dump, "allocated", m.allocated);
  dump_number(&w->dump, "state", luaN_statebytes(L));
  if (w->dump.tracker != NULL) {
    dump_number(&w->dump, "period", w->dump.tracker->interval.period);
    dump_number(&w->dump, "unfollowed", tracker_unfollowed(w->dump.tracker));
  }
  if (wish->command != NULL)
    dump_meta(&w->dump, "command", wish->command);
  codes(w, L);
}

/* }===================================================================== */

/* {== the child ======================================================== */

/* Writes to 'why' that a snapshot was stopped at its time limit. */
static void overtime (unsigned seconds, char *why, size_t size) {
  snprintf(why, size, "it took more than %u s, the limit; profiler.snapshot() and asamp heap PID have no "
           "limit", seconds);
}

/* Writes a message to stderr, without allocating (SN3). */
static void complain (const char *path, int error, unsigned seconds) {
  char line[600], why[128] = "writing failed";
  int n;
  if (error == ETIMEDOUT)
    overtime(seconds, why, sizeof(why));
  n = snprintf(line, sizeof(line), "profiler: cannot write the snapshot '%.400s': %s\n",
               path, error == ENOSPC ? "no space left on the device"
               : error == ENOMEM ? "not enough memory" : why);
  if (n > 0 && write(2, line, (size_t)n) < 0) { /* there is nowhere to report this */ }
}

/*
** Makes this process the first one that the kernel kills when memory runs out (SN5). If it still
** runs after 'seconds', for example in a write that blocks, SIGALRM ends it.
*/
static void bound (unsigned seconds) {
  sigset_t alarms;
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (write(fd, "1000", 4) < 0) { /* no permission */ }
    close(fd);
  }
  signal(SIGALRM, SIG_DFL);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  alarm(seconds);
}

/*
** Writes the snapshot in the child process, and ends the process with the status 0 or an errno. If
** the snapshot could not be completed, removes the file (SN4) and writes a message to stderr.
*/
static _Noreturn void child (Writer *w, lua_State *L, const char *path) {
  int error;
  if (w->seconds != 0) bound(w->seconds + 1);
  error = writeall(w, L);
  if (error != 0) {
    struct stat s;
    if (fstat(w->fd, &s) == 0 && S_ISREG(s.st_mode))
      unlink(path);
    complain(path, error, w->seconds);
  }
  _exit(error > 255 ? 255 : error);
}

#define WAITING	16	/* capacity of 'waiting' */

/*
** Ids of the children for which this process must still call waitpid; 0: a free entry. Several
** threads add and remove entries with atomic exchanges. A thread waits only for a child whose entry
** it has removed, so no lock is needed: a lock could be held when the program forks.
*/
static pid_t waiting[WAITING];

/* Adds a child to 'waiting'. Returns 0 if there is no free entry. */
static int snapshot_keep (pid_t child) {
  int i;
  for (i = 0; i < WAITING; i++) {
    pid_t none = 0;
    if (__atomic_compare_exchange_n(&waiting[i], &none, child, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return 1;
  }
  return 0;
}

/* Waits until the child ends. */
static void snapshot_await (pid_t child, int *status) {
  while (waitpid(child, status, __WALL) < 0 && errno == EINTR) { }
}

/*
** Removes the children that have ended from 'waiting'. To check a child, removes its entry, and
** adds the entry again if the child is still running. If other threads have used all free entries
** in the meantime, waits until the child ends.
*/
static void reap (void) {
  int i, status;
  for (i = 0; i < WAITING; i++) {
    pid_t child = __atomic_exchange_n(&waiting[i], 0, __ATOMIC_ACQ_REL);
    if (child != 0 && waitpid(child, &status, WNOHANG | __WALL) == 0 && !snapshot_keep(child))
      snapshot_await(child, &status);
  }
}

/* }===================================================================== */

/* Writes the error message from 'why' or, if it is empty, from 'error'. Returns 0. */
static int snapshot_failed (const char *path, const char *why, int error, char *err, size_t size) {
  char user[100] = "";
  if (error == EACCES && why[0] == '\0')
    snprintf(user, sizeof(user), "; the process that writes it runs as user %u, which may not write there",
             (unsigned)geteuid());
  snprintf(err, size, "cannot write the snapshot '%s': %s%s", path,
           why[0] != '\0' ? why : strerror(error), user);
  errno = error;
  return 0;
}

/*
** Writes the snapshot in a child, or in this process if the caller wishes that or the fork fails.
** Returns 0 or an errno. The result is also 0 if the child is still writing, with s->child set.
*/
static int run (Writer *w, lua_State *L, const SnapshotWish *wish, Snapshot *s) {
  int status;
  if (!wish->inprocess) {
    s->child = quietfork(w->fd);
    if (s->child == 0)
      child(w, L, s->path);
    s->forked = s->child > 0;
    if (s->forked) {
      if (!wish->wait && snapshot_keep(s->child))
        return 0;
      snapshot_await(s->child, &status);
      s->child = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status)
           : WTERMSIG(status) == SIGALRM ? ETIMEDOUT : EINTR;
    }
    s->refused = errno;
  }
  s->child = 0;
  return writeall(w, L);
}

/*
** Upper estimate of the bytes that a child needs. 'inuse': bytes of the heap that are in use. The
** heap walk stores 8 bytes for each object, and few objects have less than 24 bytes. It also uses
** one bit for every 8 bytes of the heap. Pages that the program changes in the meantime are not
** included; the kernel copies them.
*/
#define NEEDED(inuse)	((inuse) / 2)

/*
** Returns 0 if there is enough memory for a child. Otherwise returns 1, with the message in 'why'.
*/
static int isshort (lua_State *L, char *why, size_t size) {
  luaN_Memory m;
  uint64_t left = memoryleft();
  luaN_memory(L, &m);
  if (left >= NEEDED(m.inuse))
    return 0;
  snprintf(why, size, "not enough memory: it needs up to %llu MiB in addition to the heap, and "
           "%llu MiB are left",
           (unsigned long long)(NEEDED(m.inuse) >> 20), (unsigned long long)(left >> 20));
  return 1;
}

int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size) {
  UNCANCELLED;
  const PlaceWish placewish = {wish->path, 0, 0, wish->replace, NULL, 1, 0, wish->option
    ? "exists there and would be replaced; give another path, or the option overwrite"
    : "exists there and would be replaced; give another path"};
  uint64_t started = now(CLOCK_MONOTONIC);
  Place place = {-1, NULL, 0, 0, 0, 0};
  char why[256] = "";
  Writer *w;
  int error;
  memset(s, 0, sizeof(*s));
  reap();
  if (wish->seconds != 0 && isshort(L, why, sizeof(why)))
    return snapshot_failed(wish->path, why, ENOMEM, err, size);
  w = calloc(1, sizeof(*w));
  if (w == NULL || !compressor_open(&w->compressor, COMPRESSOR_FAST)) {
    if (w != NULL)
      compressor_close(&w->compressor);
    free(w);
    return snapshot_failed(wish->path, "", ENOMEM, err, size);
  }
  error = place_open(&placewish, &place, why, sizeof(why));
  if (error == 0) {
    struct stat file;
    s->path = place.path;
    w->fd = place.fd;
    w->seconds = wish->seconds;
    w->until = started + wish->seconds * UINT64_C(1000000000);
    w->dump.sink = sink;
    w->dump.memory = pages_realloc;
    w->dump.ud = w;
    snapshot_head(w, L, wish);
    error = run(w, L, wish, s);
    if (error != 0 && fstat(w->fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 0)
      unlink(s->path);  /* the child has not removed the file */
    if (error == ETIMEDOUT)
      overtime(wish->seconds, why, sizeof(why));
    else if (error != 0 && s->forked)
      snprintf(why, sizeof(why), "the process that was to write it failed: %s", strerror(error));
    close(w->fd);
  }
  compressor_close(&w->compressor);
  free(w);
  s->stopped = now(CLOCK_MONOTONIC) - started;
  if (error != 0) {
    snapshot_failed(wish->path, error == EBUSY && why[0] == '\0'
                    ? "a collection is running; take the snapshot later" : why, error, err, size);
    free(place.path);
    s->path = NULL;
    return 0;
  }
  return 1;
}
