/* SPDX-License-Identifier: MIT */
/* Writes the file of a profile, and keeps bytes while it stalls (livefile.h). */
#define _GNU_SOURCE
#include "livefile.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"

#define WAIT_MS		250     /* ms between checks of a full pipe */
/* Longest time, in ms, that a write waits for a full pipe when the profile is ending. */
#define LEAVING_MS	5000

void livefile_fail (LiveFile *f, int error) {
  if (f->error == 0)
    f->error = error;
}

void livefile_at (LiveFile *f, const char *path, int folder) {
  char here[PATH_MAX];
  free(f->path);
  f->path = NULL;
  f->folder = folder;
  if (path[0] == '/')
    f->path = strdup(path);
  else if (getcwd(here, sizeof(here)) != NULL && asprintf(&f->path, "%s/%s", here, path) < 0)
    f->path = NULL;
}

/* Returns 1 if the descriptor still belongs to the file. If not, forgets the descriptor without
   closing it, because another file may have this number now. */
static int livefile_has (LiveFile *f, struct stat *s) {
  if (f->fd >= 0 && fstat(f->fd, s) == 0 && s->st_dev == f->device && s->st_ino == f->inode)
    return 1;
  f->fd = -1;
  return 0;
}

/* Opens the file again after the program has closed its descriptor. Returns 0 on failure. */
static int livefile_reopen (LiveFile *f, struct stat *s) {
  if (f->path == NULL)
    return 0;
  f->fd = place_again(f->path, f->folder, f->device, f->inode);
  return livefile_has(f, s) && lseek(f->fd, (off_t)f->written, SEEK_SET) >= 0;
}

/* Stores the status of the file in *s. Opens the file again if the program has closed the
   descriptor. Returns 0 if the file cannot be opened again, or if it has no descriptor. Makes the
   file fail if it cannot be opened again, or if another program has truncated it. */
static int livefile_stat (LiveFile *f, struct stat *s) {
  if (f->fd < 0)
    return 0;
  if (!livefile_has(f, s) && !livefile_reopen(f, s)) {
    livefile_fail(f, EBADF);
    return 0;
  }
  if (S_ISREG(s->st_mode) && (uint64_t)s->st_size < f->written)
    livefile_fail(f, ESTALE);
  return 1;
}

/* Handles a failed write; 'error' is its errno. Makes the file stall: later bytes are kept until a
   flush can write them. If the file cannot stall, makes it fail. */
static void livefile_failed (LiveFile *f, int error) {
  if (f->patient && ftruncate(f->fd, (off_t)f->sure) == 0 &&
      lseek(f->fd, (off_t)f->sure, SEEK_SET) >= 0) {
    f->stalled = error;
    __atomic_store_n(&f->written, f->sure, __ATOMIC_RELAXED);
  }
  else
    livefile_fail(f, error);
}

/* Waits up to WAIT_MS until a full pipe has space. If the profile is ending and nothing was written
   for LEAVING_MS, makes the file fail instead. 'waits': number of calls since the last write. */
static void livefile_await (LiveFile *f, int waits) {
  struct pollfd ready = {f->fd, POLLOUT, 0};
  if (__atomic_load_n(&f->leaving, __ATOMIC_RELAXED) && waits > LEAVING_MS / WAIT_MS)
    livefile_fail(f, ETIMEDOUT);
  else
    poll(&ready, 1, WAIT_MS);
}

static void livefile_writeall (LiveFile *f, const unsigned char *data, size_t n) {
  struct stat s;
  int waits = 0;
  __atomic_store_n(&f->waiting, 1, __ATOMIC_RELAXED);
  while (n > 0 && f->error == 0 && f->stalled == 0 && livefile_stat(f, &s) && f->error == 0) {
    ssize_t w = write(f->fd, data, n);
    if (w > 0) {
      data += w;
      n -= (size_t)w;
      waits = 0;
      __atomic_add_fetch(&f->written, (uint64_t)w, __ATOMIC_RELAXED);
    }
    else if (w == 0)
      livefile_failed(f, ENOSPC);
    else if (errno == EAGAIN)
      livefile_await(f, ++waits);
    else if (errno != EINTR)
      livefile_failed(f, errno);
  }
  __atomic_store_n(&f->waiting, 0, __ATOMIC_RELAXED);
}

/* Writes compressed bytes to the file. Returns 0 if the file has failed, or is stalled: writes fail
   now and are tried again later. */
static int putpacked (void *ud, const unsigned char *data, size_t n) {
  LiveFile *f = ud;
  livefile_writeall(f, data, n);
  return f->error == 0 && f->stalled == 0;
}

int livefile_open (LiveFile *f, int fd, int packed, int patient) {
  struct stat s;
  memset(f, 0, sizeof(*f));
  f->fd = fd;
  if (fstat(fd, &s) != 0)
    return errno;
  f->device = s.st_dev;
  f->inode = s.st_ino;
  f->patient = patient && S_ISREG(s.st_mode);
  f->packed = packed;
  if (f->packed && !compressor_open(&f->compressor, COMPRESSOR_FAST))
    return ENOMEM;
  return 0;
}

/* Compresses or writes bytes. 'then': MORE, FLUSH or END (compressor_put). */
static void livefile_pass (LiveFile *f, const unsigned char *data, size_t n, int then) {
  if (f->packed)
    compressor_put(&f->compressor, data, n, then, putpacked, f);
  else
    livefile_writeall(f, data, n);
}

/* Call it after a flush, when all bytes so far are in the file. Sets f->sure to their number, and
   f->ending to the bytes that would complete the gzip member there. Empties f->kept, because its
   bytes need not be written again. Does nothing if the file cannot stall (f->patient is 0), has
   failed, or is stalled. */
static void livefile_settle (LiveFile *f) {
  if (!f->patient || f->error != 0 || f->stalled != 0)
    return;
  f->sure = f->written;
  f->kept.n = 0;
  f->nending = f->packed ? COMPRESSOR_ENDING : 0;
  if (f->packed)
    compressor_ending(&f->compressor, f->ending);
}

/* Tries to end a stall, in which writes fail. The file has f->sure bytes: those up to its last
   flush. Appends the end of the gzip member, and then the bytes kept in memory as another member.
   Without gzip, appends only the kept bytes. 'then': FLUSH or END (compressor_put). If a write
   fails again, the stall goes on. */
static void livefile_again (LiveFile *f, int then) {
  int why = f->stalled;
  if (f->packed)
    compressor_restart(&f->compressor);
  f->stalled = 0;
  livefile_writeall(f, f->ending, f->nending);
  if (f->stalled == 0)
    livefile_pass(f, f->kept.data, f->kept.n, then);
  if (f->stalled != 0)
    f->stalled = why;
}

/* Keeps bytes in memory, to write them again if the file stalls (writes fail). If there is not
   enough memory, flushes the file first, which drops the bytes kept earlier. */
static void livefile_keep (LiveFile *f, const unsigned char *data, size_t n) {
  bytes_add(&f->kept, data, n);
  if (f->kept.failed && f->stalled == 0) {
    f->kept.failed = 0;
    livefile_flush(f, 0);
    bytes_add(&f->kept, data, n);
  }
}

void livefile_put (LiveFile *f, const unsigned char *data, size_t n) {
  if (f->error != 0)
    return;
  if (f->patient) {
    livefile_keep(f, data, n);
    if (f->kept.failed)
      livefile_fail(f, ENOMEM);
    else if (f->kept.n > LIVEFILE_KEPT)
      livefile_fail(f, f->stalled);
  }
  if (f->stalled == 0)
    livefile_pass(f, data, n, COMPRESSOR_MORE);
  if (f->stalled == 0 && f->kept.n >= LIVEFILE_PIECE)
    livefile_flush(f, 0);
}

void livefile_flush (LiveFile *f, int last) {
  int then = last ? COMPRESSOR_END : COMPRESSOR_FLUSH;
  if (f->error != 0)
    return;
  if (f->stalled != 0)
    livefile_again(f, then);
  else
    livefile_pass(f, NULL, 0, then);
  livefile_settle(f);
}

void livefile_empty (LiveFile *f) {
  struct stat s;
  if (!livefile_stat(f, &s) || !S_ISREG(s.st_mode))
    return;
  f->written = 0;
  if (ftruncate(f->fd, 0) != 0)
    livefile_fail(f, errno);
}

void livefile_abandon (LiveFile *f) {
  struct stat s;
  if (livefile_has(f, &s))
    close(f->fd);
  f->fd = -1;
  free(f->path);
  f->path = NULL;
  if (f->packed)
    compressor_close(&f->compressor);
  f->packed = 0;
}

void livefile_close (LiveFile *f) {
  struct stat s;
  if (f->stalled != 0)
    livefile_fail(f, f->stalled);
  if (livefile_stat(f, &s)) {
    if (S_ISREG(s.st_mode) && s.st_nlink == 0)
      livefile_fail(f, ENOENT);
    if (close(f->fd) != 0 && errno != EINTR)
      livefile_fail(f, errno);
    f->fd = -1;
  }
  bytes_free(&f->kept);
  livefile_abandon(f);
}
