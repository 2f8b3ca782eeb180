/* SPDX-License-Identifier: MIT */
/*
** Compression and writing. See outfile.h.
*/
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS		250     /* for room in a pipe, before it looks again */

void outfile_fail (OutFile *f, int error) {
  if (f->error == 0)
    f->error = error;
}

/* Writes all n bytes, however little a single write takes. */
static void put (OutFile *f, const unsigned char *data, size_t n) {
  while (n > 0 && f->error == 0) {
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

/* Compresses and writes n bytes. 'flush' is zlib's. */
static void squeeze (OutFile *f, const unsigned char *data, size_t n,
                     int flush) {
  f->z.next_in = (unsigned char *)data;
  f->z.avail_in = (uInt)n;
  do {
    f->z.next_out = f->deflated;
    f->z.avail_out = OUTFILE_PIECE;
    deflate(&f->z, flush);
    put(f, f->deflated, OUTFILE_PIECE - f->z.avail_out);
  } while (f->z.avail_out == 0 && f->error == 0);
}

int outfile_open (OutFile *f, const char *path, int compress) {
  memset(f, 0, sizeof(*f));
  f->fd = -1;
  if (compress) {
    if (deflateInit2(&f->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      return ENOMEM;
    f->compress = 1;
  }
  /* a pipe that nobody reads is an error, not a reason to wait */
  f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK,
               0666);
  return f->fd < 0 ? errno : 0;
}

void outfile_put (OutFile *f, const unsigned char *data, size_t n) {
  while (n > 0 && f->error == 0) {  /* zlib's lengths have 32 bits */
    size_t step = n < (1u << 30) ? n : (1u << 30);
    if (f->compress)
      squeeze(f, data, step, Z_NO_FLUSH);
    else
      put(f, data, step);
    data += step;
    n -= step;
  }
}

void outfile_flush (OutFile *f, int last) {
  if (f->compress && f->error == 0)
    squeeze(f, NULL, 0, last ? Z_FINISH : Z_SYNC_FLUSH);
}

void outfile_close (OutFile *f) {
  if (f->fd >= 0 && close(f->fd) != 0 && errno != EINTR)
    outfile_fail(f, errno);
  f->fd = -1;
  if (f->compress)
    deflateEnd(&f->z);
  f->compress = 0;
}
