/* SPDX-License-Identifier: MIT */
/* Writes the file of a converter (output.h). */
#include "output.h"
#include "bytes.h"
#include "complain.h"
#include "descriptor.h"
#include "printable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void output_fail (Output *o, int error) {
  if (o->error == 0)
    o->error = error;
}

static void output_put (Output *o, const unsigned char *data, size_t n) {
  if (o->error == 0)
    o->error = descriptor_write(o->fd, data, n);
}

/* Returns 1 if the file is written directly, not under a temporary name. To rename a file to a name
   such as /dev/stdout would replace a link of the system. /dev/shm is an ordinary folder. */
int output_isdevice (const char *path) {
  return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) ||
         strncmp(path, "/proc/", 6) == 0;
}

/* Opens a file that is written directly. Waits until a named pipe has a reader, as open(2) does,
   but prints a message if that takes a second. Returns -1 with errno on failure. */
static int direct (const char *path) {
  struct stat s;
  int fd, tries = 0;
  if (stat(path, &s) != 0 || !S_ISFIFO(s.st_mode))
    return descriptor_open(path, O_WRONLY | O_TRUNC, 0);
  while ((fd = descriptor_open(path, O_WRONLY | O_NONBLOCK, 0)) < 0 && errno == ENXIO) {
    if (++tries == 10)
      complain("waiting for a program that reads from the pipe '%s'", path);
    if (poll(NULL, 0, 100) < 0)
      return -1;
  }
  if (fd >= 0)
    fcntl(fd, F_SETFL, O_WRONLY);
  return fd;
}

int output_open (Output *o, const char *path, int how) {
  struct stat file;
  int error = 0;
  memset(o, 0, sizeof(*o));
  o->fd = -1;
  o->packed = how != OUTPUT_PLAIN;
  if (o->packed &&
      !compressor_open(&o->compressor, how == OUTPUT_FAST ? COMPRESSOR_FAST : COMPRESSOR_SMALL))
    return ENOMEM;
  if (strcmp(path, "-") == 0)
    o->fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
  else if (output_isdevice(path) || (stat(path, &file) == 0 && !S_ISREG(file.st_mode)))
    o->fd = direct(path);
  else {
    error = temporary_start(&o->temporary, path);
    o->fd = o->temporary.fd;
  }
  if (error == 0 && o->fd < 0)
    error = errno;
  if (error != 0 && o->packed) {
    compressor_close(&o->compressor);
    o->packed = 0;
  }
  return error;
}

/* Writes compressed bytes to the file (CompressorSink). Returns 0 after a failure. */
static int putpacked (void *ud, const unsigned char *data, size_t n) {
  Output *o = ud;
  output_put(o, data, n);
  return o->error == 0;
}

static void output_pass (Output *o, const unsigned char *data, size_t n) {
  if (o->packed)
    compressor_put(&o->compressor, data, n, COMPRESSOR_MORE, putpacked, o);
  else
    output_put(o, data, n);
  o->written += n;
}

static void output_flush (Output *o) {
  output_pass(o, o->buffer, o->n);
  o->n = 0;
}

int output_close (Output *o, int keep) {
  if (o->fd >= 0 && o->error == 0 && keep) {
    output_flush(o);
    if (o->packed && o->error == 0)
      compressor_put(&o->compressor, NULL, 0, COMPRESSOR_END, putpacked, o);
  }
  if (o->temporary.name != NULL)
    output_fail(o, temporary_end(&o->temporary, keep && o->error == 0));
  else if (o->fd >= 0 && close(o->fd) != 0 && errno != EINTR)
    output_fail(o, errno);
  o->fd = -1;
  if (o->packed)
    compressor_close(&o->compressor);
  o->packed = 0;
  return o->error;
}

void output_bytes (Output *o, const void *data, size_t n) {
  const unsigned char *from = data;
  if (n >= OUTPUT_PIECE) {
    output_flush(o);
    output_pass(o, from, n);
    return;
  }
  while (n > 0) {
    size_t step = OUTPUT_PIECE - o->n < n ? OUTPUT_PIECE - o->n : n;
    memcpy(o->buffer + o->n, from, step);
    o->n += step;
    from += step;
    n -= step;
    if (o->n == OUTPUT_PIECE)
      output_flush(o);
  }
}

void output_text (Output *o, const char *text) {
  output_bytes(o, text, strlen(text));
}

void output_char (Output *o, char c) {
  o->buffer[o->n++] = (unsigned char)c;
  if (o->n == OUTPUT_PIECE)
    output_flush(o);
}

void output_uint (Output *o, uint64_t n) {
  char text[20];
  char *p = text + sizeof(text);
  do {
    *--p = (char)('0' + n % 10);
    n /= 10;
  } while (n > 0);
  output_bytes(o, p, (size_t)(text + sizeof(text) - p));
}

void output_int (Output *o, int64_t n) {
  if (n < 0)
    output_char(o, '-');
  output_uint(o, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void output_ms (Output *o, int64_t us) {
  uint64_t n = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
  unsigned rest = (unsigned)(n % 1000);
  if (us < 0)
    output_char(o, '-');
  output_uint(o, n / 1000);
  if (rest != 0) {
    char text[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                    (char)('0' + rest % 10)};
    output_bytes(o, text, rest % 10 != 0 ? 4 : rest % 100 != 0 ? 3 : 2);
  }
}

void output_string (Output *o, const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text;
  output_char(o, '"');
  while (n > 0) {
    size_t length = bytes_sequence(s, n);
    if (length == 0) {
      output_bytes(o, BYTES_REPLACEMENT, 3);
      length = 1;
    }
    else if (*s == '"' || *s == '\\') {
      output_char(o, '\\');
      output_char(o, (char)*s);
    }
    else if (bytes_iscontrol(*s)) {
      char code[8];
      sprintf(code, "\\u%04x", *s);
      output_bytes(o, code, 6);
    }
    else
      output_bytes(o, s, length);
    s += length;
    n -= length;
  }
  output_char(o, '"');
}

void output_clean (Output *o, const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text;
  while (n > 0) {
    size_t length = bytes_sequence(s, n);
    if (length == 0) {
      output_bytes(o, BYTES_REPLACEMENT, 3);
      length = 1;
    }
    else if (printable_isobeyed(s, length) || *s == ';')
      output_char(o, ',');
    else
      output_bytes(o, s, length);
    s += length;
    n -= length;
  }
}
