/* SPDX-License-Identifier: MIT */
/*
** Writing. See outfile.h.
*/
#include "outfile.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS		250     /* for room in a pipe, before it looks again */

void outfile_fail (OutFile *f, int error) {
  if (f->error == 0)
    f->error = error;
}

/* Is the descriptor still that of the file? If not, there is none (W5). */
static int look (OutFile *f, struct stat *s) {
  if (f->fd < 0)
    return 0;
  if (fstat(f->fd, s) == 0 && s->st_dev == f->device && s->st_ino == f->inode)
    return 1;
  f->fd = -1;
  outfile_fail(f, EBADF);
  return 0;
}

/* Writes all n bytes, however little a single write takes. */
static void put (OutFile *f, const unsigned char *data, size_t n) {
  struct stat s;
  while (n > 0 && f->error == 0 && look(f, &s)) {
    ssize_t w = write(f->fd, data, n);
    if (w > 0) {
      data += w;
      n -= (size_t)w;
      __atomic_add_fetch(&f->written, (uint64_t)w, __ATOMIC_RELAXED);
    }
    else if (w == 0)
      outfile_fail(f, ENOSPC);
    else if (errno == EAGAIN) {
      struct pollfd ready = {f->fd, POLLOUT, 0};
      poll(&ready, 1, WAIT_MS);
    }
    else if (errno != EINTR)
      outfile_fail(f, errno);
  }
}

/* The packer's sink. */
static int putpacked (void *ud, const unsigned char *data, size_t n) {
  OutFile *f = ud;
  put(f, data, n);
  return f->error == 0;
}

int outfile_open (OutFile *f, int fd, int how) {
  struct stat s;
  memset(f, 0, sizeof(*f));
  f->fd = fd;
  if (fstat(fd, &s) != 0)
    return errno;
  f->device = s.st_dev;
  f->inode = s.st_ino;
  f->packed = how != OUTFILE_PLAIN;
  if (f->packed &&
      !packer_open(&f->packer, how == OUTFILE_LIVE ? PACKER_LIVE : PACKER_SMALL))
    return ENOMEM;
  return 0;
}

void outfile_put (OutFile *f, const unsigned char *data, size_t n) {
  if (f->error != 0)
    return;
  if (f->packed)
    packer_put(&f->packer, data, n, PACKER_MORE, putpacked, f);
  else
    put(f, data, n);
}

void outfile_text (OutFile *f, int text) {
  if (f->packed && f->error == 0)
    packer_text(&f->packer, text, putpacked, f);
}

void outfile_flush (OutFile *f, int last) {
  if (f->packed && f->error == 0)
    packer_put(&f->packer, NULL, 0, last ? PACKER_END : PACKER_FLUSH, putpacked,
               f);
}

void outfile_abandon (OutFile *f) {
  struct stat s;
  if (look(f, &s))
    close(f->fd);
  f->fd = -1;
  if (f->packed)
    packer_close(&f->packer);
  f->packed = 0;
}

void outfile_close (OutFile *f) {
  struct stat s;
  if (look(f, &s)) {
    if (S_ISREG(s.st_mode) && s.st_nlink == 0)
      outfile_fail(f, ENOENT);
    if (close(f->fd) != 0 && errno != EINTR)
      outfile_fail(f, errno);
    f->fd = -1;
  }
  outfile_abandon(f);
}
