/* SPDX-License-Identifier: MIT */
/* Snapshots of a state's heap (snapshot.h). */
#define _GNU_SOURCE
#include "heapformat.h"
#include "dump.h"
#include "snapshot.h"
#include "clock.h"
#include "complain.h"
#include "compressor.h"
#include "descriptor.h"
#include "draft.h"
#include "memoryleft.h"
#include "native.h"
#include "pages.h"
#include "place.h"
#include "quietfork.h"
#include "tracksample.h"
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
#include <unistd.h>

#include "binding.h"

#define CODES_MOST	64	/* largest number of C functions whose names a snapshot has */

/* A snapshot that is being written; allocated before the fork. */
typedef struct Writer {
  Dump dump;
  Compressor compressor;
  Draft draft;		/* the file being written, temporary or final */
  int lock;		/* descriptor of the final file, locked until it is replaced */
  int error;		/* errno of the first failure, or 0 */
  unsigned seconds;	/* time limit, s; 0: none */
  uint64_t until;	/* time at which the limit ends (CLOCK_MONOTONIC, ns); unused if 'seconds'
                           is 0 */
} Writer;

/* {== bytes ============================================================ */

/* Writes n bytes to the file. If the file is a full pipe, waits until the pipe has free space.
   Returns 0 on failure and sets w->error. */
static int snapshot_put (void *ud, const unsigned char *data, size_t n) {
  Writer *w = ud;
  if (w->seconds != 0 && w->error == 0 && clock_now() > w->until) w->error = ETIMEDOUT;
  while (n > 0 && w->error == 0) {
    ssize_t done = write(w->draft.fd, data, n);
    if (done > 0) {
      data += done;
      n -= (size_t)done;
    }
    else if (done == 0) w->error = ENOSPC;
    else if (errno == EAGAIN) {
      struct pollfd ready = {w->draft.fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    }
    else if (errno != EINTR) w->error = errno;
  }
  return w->error == 0;
}

/* Compresses and writes n bytes of the snapshot, for dump_walk. 'ud' is the Writer. Returns 0 on
   failure and sets w->error. */
static int sink (void *ud, const unsigned char *data, size_t n) {
  Writer *w = ud;
  compressor_put(&w->compressor, data, n, COMPRESSOR_MORE, snapshot_put, w);
  return w->error == 0;
}

/* Writes the whole snapshot and gives the file its final name. Returns 0 or an errno. */
static int writeall (Writer *w, lua_State *L) {
  int result = dump_walk(&w->dump, L);
  if (result == LUAN_WALKED)
    compressor_put(&w->compressor, (const unsigned char *)"", 0, COMPRESSOR_END, snapshot_put, w);
  return draft_end(&w->draft, w->error != 0 ? w->error : result == LUAN_WALKED ? 0
                              : result == LUAN_BUSY ? EBUSY : ENOMEM);
}

/* Writes the names of the C functions on L's stack. Call it before the fork: the child must not
   call malloc, and finding a name needs malloc. */
static void codes (Writer *w, lua_State *L) {
  luaN_Frame *f = malloc(LUAN_DEPTH * sizeof(*f));
  const void *written[CODES_MOST];
  size_t n = f != NULL ? luaN_frames(L, f) : 0, i, k, nwritten = 0;
  for (i = 0; i < n && nwritten < CODES_MOST; i++) {
    char name[HEAP_TEXT], file[8];
    if (f[i].id != NULL || f[i].function == NULL) continue;
    for (k = 0; k < nwritten && written[k] != f[i].function; ) k++;
    if (k < nwritten) continue;
    written[nwritten++] = f[i].function;
    native_name(NULL, native_id(f[i].function), name, sizeof(name), file, sizeof(file));
    if (name[0] != '\0') dump_code(&w->dump, f[i].function, name);
  }
  free(f);
}

/* Writes the records that precede the objects. */
static void snapshot_head (Writer *w, lua_State *L, const SnapshotWish *wish) {
  luaN_Memory m;
  luaN_memory(L, &m);
  dump_start(&w->dump);
  w->dump.tracker = tracksample_of(L);
  w->dump.time = clock_now();
  dump_number(&w->dump, "time", clock_read(CLOCK_REALTIME) / CLOCK_SECOND);
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

/* {== the child process that writes the snapshot ======================= */

/* Writes to 'why' that the time limit was reached. */
static void overtime (unsigned seconds, char *why, size_t size) {
  snprintf(why, size, "writing took more than %u s, the limit; use profiler.snapshot() or asamp "
                      "heap PID, which have no limit", seconds);
}

/* Prints the child's error message. Must not allocate memory: another thread may have held the lock
   of malloc at the fork. */
static void childfailed (const char *path, int error, unsigned seconds) {
  char why[128];
  snprintf(why, sizeof(why), "writing failed with errno %d", error);
  if (error == ETIMEDOUT) overtime(seconds, why, sizeof(why));
  complain("cannot write the snapshot '%.400s': %s", path,
           error == ENOSPC ? "no space left on the device"
           : error == EDQUOT ? "the quota of the disk is used up"
           : error == EFBIG ? "the file would exceed the limit of file sizes (ulimit -f)"
           : error == EACCES ? "no permission" : error == ENOMEM ? "not enough memory" : why);
}

/* Limits the calling process, a child: if memory runs out, the system kills it first; after
   'seconds', SIGALRM kills it. */
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

/* Writes the snapshot in the child, reports a failure, and exits with 0 or an errno. */
static _Noreturn void child (Writer *w, lua_State *L, const char *path) {
  int error;
  if (w->seconds != 0) bound(w->seconds + 1);
  error = writeall(w, L);
  if (error != 0)
    childfailed(path, error, w->seconds);
  _exit(error > 255 ? 255 : error);
}

/* A child for which waitpid must be called. */
typedef struct Waiting {
  pid_t child;
  pid_t parent;		/* process that forked the child */
  unsigned seconds;	/* time limit of the child, s; 0: none */
  Draft draft;		/* names of the files that the child writes */
  char *path;		/* path of the snapshot, for messages */
  void (*failed) (const char *why);	/* SnapshotWish.failed */
} Waiting;

#define WAITING	16	/* capacity of the array 'waiting', in children */

/* The children that may still run; NULL: free element. Elements are added and removed by atomic
   exchanges, because a lock could be held by another thread at a fork. Only the thread that has
   removed an element calls waitpid for the child. */
static Waiting *waiting[WAITING];

/* Adds a child to 'waiting'. Returns 0 if there is no free element. */
static int snapshot_keep (Waiting *w) {
  int i;
  for (i = 0; i < WAITING; i++) {
    Waiting *none = NULL;
    if (__atomic_compare_exchange_n(&waiting[i], &none, w, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return 1;
  }
  return 0;
}

static void snapshot_await (pid_t child, int *status) {
  while (waitpid(child, status, __WALL) < 0 && errno == EINTR) { }
}

/* Evaluates the status of an ended child. If a signal has killed the child, removes its files.
   Returns 0, or the errno of the child's failure with a reason in 'why'. */
static int snapshot_result (const Draft *d, int status, unsigned seconds, char *why, size_t size) {
  int error = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  if (WIFSIGNALED(status)) {
    draft_drop(d);
    if (WTERMSIG(status) == SIGALRM) error = ETIMEDOUT;
  }
  if (error == ETIMEDOUT)
    overtime(seconds, why, size);
  else if (error != 0)
    snprintf(why, size, "the process that writes the snapshot failed: %s",
             WIFEXITED(status) ? strerror(error) : strsignal(WTERMSIG(status)));
  return error;
}

static void waiting_free (Waiting *w) {
  if (w == NULL) return;
  free(w->draft.name);
  free(w->draft.target);
  free(w->path);
  free(w);
}

/* Handles an ended child. If a signal has killed the child, removes its files and prints a message.
   After another failure, the child has printed a message itself. Calls w->failed in both cases.
   'known' 0: the status is unknown, because the program has called waitpid; then a signal has
   killed the child if its temporary file still exists. */
static void snapshot_ended (Waiting *w, int known, int status) {
  char why[256] = "";
  if (known) snapshot_result(&w->draft, status, w->seconds, why, sizeof(why));
  else if (draft_drop(&w->draft))
    snprintf(why, sizeof(why), "a signal killed the process that wrote it; take another snapshot");
  if (why[0] != '\0' && !(known && WIFEXITED(status)))
    complain("cannot write the snapshot '%s': %s", w->path, why);
  if (why[0] != '\0' && w->failed != NULL) w->failed(why);
  waiting_free(w);
}

/* Removes each ended child from 'waiting' and handles it. Puts a running child back; if other
   threads have filled 'waiting' meanwhile, waits until that child has ended, and handles it. In a
   forked child of the program, only empties 'waiting', because the children in it are those of the
   parent. */
void snapshot_check (void) {
  UNCANCELLED;
  int i, status = 0;
  for (i = 0; i < WAITING; i++) {
    Waiting *w = __atomic_exchange_n(&waiting[i], NULL, __ATOMIC_ACQ_REL);
    pid_t ended;
    if (w == NULL) continue;
    if (w->parent != getpid()) {
      waiting_free(w);
      continue;
    }
    ended = waitpid(w->child, &status, WNOHANG | __WALL);
    if (ended == 0 && snapshot_keep(w)) continue;
    if (ended == 0) snapshot_await(w->child, &status);
    snapshot_ended(w, ended >= 0, status);
  }
}

/* Returns a new Waiting for a child that will be forked; NULL if out of memory. After the fork,
   snapshot_keep adds it to the array 'waiting'. */
static Waiting *newwaiting (const Writer *from, const char *path) {
  static int isset;
  Waiting *w = calloc(1, sizeof(*w));
  if (w == NULL) return NULL;
  w->parent = getpid();
  w->seconds = from->seconds;
  w->path = strdup(path);
  w->draft = from->draft;
  w->draft.name = from->draft.name != NULL ? strdup(from->draft.name) : NULL;
  w->draft.target = from->draft.target != NULL ? strdup(from->draft.target) : NULL;
  if (w->path == NULL || (w->draft.name == NULL) != (from->draft.name == NULL) ||
      (w->draft.target == NULL) != (from->draft.target == NULL)) {
    waiting_free(w);
    return NULL;
  }
  if (!__atomic_exchange_n(&isset, 1, __ATOMIC_ACQ_REL)) atexit(snapshot_check);
  return w;
}

/* }===================================================================== */

/* Writes the error message to 'err': the reason 'why' or, if that is empty, the text of the errno
   'error'. Returns 0. */
static int snapshot_failed (const char *path, const char *why, int error, char *err, size_t size) {
  char user[100] = "";
  if (error == EACCES && why[0] == '\0')
    snprintf(user, sizeof(user),
             "; the process that writes the snapshot runs as user %u, which may not write there",
             (unsigned)geteuid());
  snprintf(err, size, "cannot write the snapshot '%s': %s%s", path,
           why[0] != '\0' ? why : strerror(error), user);
  errno = error;
  return 0;
}

/* Writes the snapshot in a child process, or in this process if wish->inprocess is 1 or the fork
   fails. Returns 0 or an errno; an errno may come with a reason in 'why'. If run returns 0 and
   s->child is not 0, the process s->child is still writing the file. */
static int run (Writer *w, lua_State *L, const SnapshotWish *wish, Snapshot *s, char *why,
                size_t size) {
  DescriptorSignals signals;
  int status = 0;
  if (!wish->inprocess) {
    Waiting *entry = wish->wait ? NULL : newwaiting(w, s->path);
    s->child = quietfork(w->draft.fd, w->lock);
    if (s->child == 0) child(w, L, s->path);
    s->forked = s->child > 0;
    if (s->forked) {
      if (entry != NULL) {
        entry->child = s->child;
        entry->failed = wish->failed;
        if (snapshot_keep(entry)) return 0;
      }
      waiting_free(entry);
      snapshot_await(s->child, &status);
      s->child = 0;
      return snapshot_result(&w->draft, status, w->seconds, why, size);
    }
    s->refused = errno;
    waiting_free(entry);
  }
  s->child = 0;
  descriptor_block(&signals);
  status = writeall(w, L);
  descriptor_unblock(&signals);
  return status;
}

/* Upper estimate of the bytes that a child needs for 'inuse' bytes of objects. luaN_walk needs 8
   bytes per object and one bit per 8 bytes, less than half of 'inuse'. */
#define NEEDED(inuse)	((inuse) / 2)

/* Returns 1, with a message in 'why', if there is too little memory for a child. */
static int isshort (lua_State *L, char *why, size_t size) {
  luaN_Memory m;
  uint64_t left = memoryleft();
  luaN_memory(L, &m);
  if (left >= NEEDED(m.inuse)) return 0;
  snprintf(why, size, "not enough memory: the snapshot needs up to %llu MiB in addition to the "
                      "heap, and %llu MiB are left; "
                      "raise the limit of the system or control group",
           (unsigned long long)(NEEDED(m.inuse) >> 20), (unsigned long long)(left >> 20));
  return 1;
}

int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size) {
  UNCANCELLED;
  const PlaceWish placewish = {wish->path, 0, 0, wish->replace, NULL, 1, 0, wish->option
    ? "exists at this path and would be replaced; give another path, or the option overwrite"
    : "exists at this path and would be replaced; give another path"};
  uint64_t started = clock_now();
  Place place = {-1, NULL, 0, 0, 0, 0};
  char why[256] = "";
  Writer *w;
  int error;
  memset(s, 0, sizeof(*s));
  snapshot_check();
  if (wish->seconds != 0 && isshort(L, why, sizeof(why)))
    return snapshot_failed(wish->path, why, ENOMEM, err, size);
  w = calloc(1, sizeof(*w));
  if (w == NULL || !compressor_open(&w->compressor, COMPRESSOR_FAST)) {
    if (w != NULL) compressor_close(&w->compressor);
    free(w);
    return snapshot_failed(wish->path, "", ENOMEM, err, size);
  }
  error = place_open(&placewish, &place, why, sizeof(why));
  if (error == 0) error = draft_start(&w->draft, &place);
  if (error != 0)
    place_undo(&place);
  else {
    s->path = place.path;
    w->lock = place.fd;
    w->seconds = wish->seconds;
    w->until = started + wish->seconds * CLOCK_SECOND;
    w->dump.sink = sink;
    w->dump.memory = pages_realloc;
    w->dump.ud = w;
    snapshot_head(w, L, wish);
    error = run(w, L, wish, s, why, sizeof(why));
    if (error == ETIMEDOUT) overtime(wish->seconds, why, sizeof(why));
  }
  draft_free(&w->draft);
  if (place.fd >= 0) close(place.fd);
  compressor_close(&w->compressor);
  free(w);
  s->stopped = clock_now() - started;
  if (error != 0) {
    snapshot_failed(wish->path, error == EBUSY && why[0] == '\0'
                    ? "a collection is running; take the snapshot later" : why, error, err, size);
    free(place.path);
    s->path = NULL;
    return 0;
  }
  return 1;
}
