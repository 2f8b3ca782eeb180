/* SPDX-License-Identifier: MIT */
/* The list of temporary files and the handlers that remove them (temporary.h). */
#define _GNU_SOURCE
#include "temporary.h"
#include "descriptor.h"
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The signals whose actions are changed. */
enum { NSIGNALS = 4 };
static const int SIGNALS[NSIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};

static Temporary *first;
static int set[NSIGNALS];  /* set[i] is 1 if our handler of SIGNALS[i] is installed */

/* Signal handler: removes the temporary files, and then lets the signal end the process. */
static void temporary_ended (int sig) {
  const Temporary *t;
  for (t = first; t != NULL; t = t->next)
    unlink(t->name);
  signal(sig, SIG_DFL);
  raise(sig);
}

static void (*disposition (int sig)) (int) {
  return sig == SIGXFSZ ? SIG_IGN : temporary_ended;
}

static void block (sigset_t *before) {
  sigset_t all;
  int i;
  sigemptyset(&all);
  for (i = 0; i < NSIGNALS; i++)
    sigaddset(&all, SIGNALS[i]);
  sigprocmask(SIG_BLOCK, &all, before);
}

static void sethandlers (void) {
  struct sigaction handler, now;
  int i;
  memset(&handler, 0, sizeof(handler));
  for (i = 0; i < NSIGNALS; i++) {
    sigaddset(&handler.sa_mask, SIGNALS[i]);
    sigaction(SIGNALS[i], NULL, &now);
    set[i] = now.sa_handler == SIG_DFL;
  }
  for (i = 0; i < NSIGNALS; i++) {
    handler.sa_handler = disposition(SIGNALS[i]);
    if (set[i])
      sigaction(SIGNALS[i], &handler, NULL);
  }
}

/* Restores the default actions of SIGNALS, except for a signal whose handler of this file the
   program has replaced. */
static void takehandlers (void) {
  struct sigaction now;
  int i;
  for (i = 0; i < NSIGNALS; i++) {
    if (set[i] && sigaction(SIGNALS[i], NULL, &now) == 0 &&
        now.sa_handler == disposition(SIGNALS[i]))
      signal(SIGNALS[i], SIG_DFL);
  }
}

char *temporary_target (const char *path) {
  enum { LINKS = 40 };
  char *at = strdup(path);
  int i;
  for (i = 0; at != NULL && i < LINKS; i++) {
    char link[4096];
    const char *slash = strrchr(at, '/');
    char *next;
    struct stat s;
    ssize_t n;
    size_t folder = slash != NULL ? (size_t)(slash - at) + 1 : 0;
    if (lstat(at, &s) != 0 || !S_ISLNK(s.st_mode))
      return at;
    n = place_foreign(at, &s) ? -1 : readlink(at, link, sizeof(link) - 1);
    if (n <= 0)
      break;
    link[n] = '\0';
    if (link[0] == '/')
      folder = 0;
    next = malloc(folder + (size_t)n + 1);
    if (next != NULL) {
      memcpy(next, at, folder);
      memcpy(next + folder, link, (size_t)n + 1);
    }
    free(at);
    at = next;
  }
  errno = at == NULL ? ENOMEM : ELOOP;
  free(at);  /* preserves errno */
  return NULL;
}

int temporary_create (const char *target, char **name, int *fd) {
  enum { TRIES = 100 };
  size_t n = strlen(target) + 64;
  int i, error = EEXIST;
  *name = malloc(n);
  if (*name == NULL)
    return ENOMEM;
  for (i = 0; i < TRIES && error == EEXIST; i++) {
    unsigned number;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
      error = errno;
    else {
      snprintf(*name, n, "%s.%ld.%u.tmp", target, (long)getpid(), number);
      *fd = descriptor_open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
      if (*fd >= 0)
        return 0;
      error = errno;
    }
  }
  free(*name);
  *name = NULL;
  return error;
}

static void temporary_forget (Temporary *t) {
  if (t->replaced >= 0)
    close(t->replaced);
  t->replaced = -1;
  free(t->name);
  free(t->target);
  t->name = t->target = NULL;
}

/* Takes a shared lock of the file to be replaced, if it exists. Returns 0, or ETXTBSY if another
   process is writing the file. */
static int temporary_lock (Temporary *t) {
  struct stat s;
  if (stat(t->target, &s) != 0 || !S_ISREG(s.st_mode))
    return 0;
  t->replaced = descriptor_open(t->target, O_RDONLY | O_NONBLOCK, 0);
  return t->replaced >= 0 && flock(t->replaced, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
         ? ETXTBSY : 0;
}

const char *temporary_reason (int error) {
  return error == ETXTBSY ? "another process is writing this file; wait until that process has "
                          "ended, or give another path" : strerror(error);
}

int temporary_start (Temporary *t, const char *path) {
  sigset_t before;
  int error;
  memset(t, 0, sizeof(*t));
  t->fd = t->replaced = -1;
  t->target = temporary_target(path);
  if (t->target == NULL)
    return errno;
  error = temporary_lock(t);
  if (error != 0) {
    temporary_forget(t);
    return error;
  }
  block(&before);
  error = temporary_create(t->target, &t->name, &t->fd);
  if (error == 0) {
    if (first == NULL)
      sethandlers();
    t->next = first;
    first = t;
  }
  else
    temporary_forget(t);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return error;
}

int temporary_imitate (int fd, const char *target) {
  struct stat old;
  mode_t mode;
  if (stat(target, &old) != 0 || !S_ISREG(old.st_mode))
    return 0;
  mode = old.st_mode & 0777;
  if (fchown(fd, old.st_uid, old.st_gid) != 0 && fchown(fd, (uid_t)-1, old.st_gid) != 0)
    mode &= 0707;
  return fchmod(fd, mode) != 0 ? errno : 0;
}

/* Writes the folder of 'path' to disk (fsync), if possible. */
static void syncfolder (const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
  int fd = folder != NULL ? descriptor_open(folder, O_RDONLY | O_DIRECTORY, 0) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  free(folder);
}

/* Closes the file. If 'keep' is not 0, first sets its mode and owner and writes its data to disk.
   Returns 0 or an errno. */
static int temporary_settle (Temporary *t, int keep) {
  int error = keep ? temporary_imitate(t->fd, t->target) : 0;
  if (keep && error == 0 && fsync(t->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    error = errno;
  if (close(t->fd) != 0 && errno != EINTR && error == 0)
    error = errno;
  t->fd = -1;
  return error;
}

int temporary_end (Temporary *t, int keep) {
  Temporary **at = &first;
  sigset_t before;
  int error;
  if (t->name == NULL)
    return 0;
  error = temporary_settle(t, keep);
  block(&before);
  keep = keep && error == 0;
  if (keep && rename(t->name, t->target) != 0) {
    error = errno;
    keep = 0;
  }
  if (!keep)
    unlink(t->name);
  while (*at != t)
    at = &(*at)->next;
  *at = t->next;
  if (first == NULL)
    takehandlers();
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (keep)
    syncfolder(t->target);
  temporary_forget(t);
  return error;
}
