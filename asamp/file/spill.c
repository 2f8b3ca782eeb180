/* SPDX-License-Identifier: MIT */
/* Stores numbers in a file (spill.h) as varints with the sign in the lowest bit. */
#define _GNU_SOURCE
#include "spill.h"
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int spill_file (const char *directory) {
  char path[4096];
  int fd;
  if (snprintf(path, sizeof(path), "%s/asamp.XXXXXX", directory) >=
      (int)sizeof(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  descriptor_hold();
  fd = mkostemp(path, O_CLOEXEC);
  descriptor_release();
  if (fd >= 0)
    unlink(path);
  return fd;
}

int spill_open (Spill *s, const char *directory) {
  memset(s, 0, offsetof(Spill, buffer));
  s->fd = spill_file(directory);
  return s->fd < 0 ? s->error = errno : 0;
}

void spill_close (Spill *s) {
  if (s->fd >= 0)
    close(s->fd);
  s->fd = -1;
}

static void spill_flush (Spill *s) {
  if (s->error == 0)
    s->error = descriptor_write(s->fd, s->buffer, s->used);
  s->used = 0;
}

void spill_put (Spill *s, int64_t n) {
  uint64_t z = (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
  if (s->used > SPILL_PIECE - 10)
    spill_flush(s);
  while (z >= 0x80) {
    s->buffer[s->used++] = (unsigned char)(z | 0x80);
    z >>= 7;
  }
  s->buffer[s->used++] = (unsigned char)z;
}

void spill_text (Spill *s, const char *text, size_t n) {
  while (n > 0) {
    size_t step = SPILL_PIECE - s->used < n ? SPILL_PIECE - s->used : n;
    memcpy(s->buffer + s->used, text, step);
    s->used += step;
    text += step;
    n -= step;
    if (s->used == SPILL_PIECE)
      spill_flush(s);
  }
}

void spill_rewind (Spill *s) {
  if (!s->reading)
    spill_flush(s);
  s->reading = 1;
  s->at = s->used = 0;
  if (s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) < 0 && s->error == 0)
    s->error = errno;
}

/* Reads until n bytes are in s->buffer. Returns 0 if the file has fewer. */
static int spill_fill (Spill *s, size_t n) {
  memmove(s->buffer, s->buffer + s->at, s->used - s->at);
  s->used -= s->at;
  s->at = 0;
  while (s->used < n && s->error == 0) {
    ssize_t r = read(s->fd, s->buffer + s->used, SPILL_PIECE - s->used);
    if (r > 0)
      s->used += (size_t)r;
    else if (r == 0)
      break;
    else if (errno != EINTR)
      s->error = errno;
  }
  return s->used >= n;
}

int64_t spill_take (Spill *s) {
  uint64_t z = 0;
  int shift = 0;
  for (;;) {
    unsigned char byte;
    if (s->at == s->used && !spill_fill(s, 1))
      return 0;
    byte = s->buffer[s->at++];
    z |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80 || shift > 63)
      return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
  }
}

const char *spill_taketext (Spill *s, size_t n) {
  const char *text;
  if (s->used - s->at < n && !spill_fill(s, n))
    return NULL;
  text = (const char *)s->buffer + s->at;
  s->at += n;
  return text;
}
