/* SPDX-License-Identifier: MIT */
/* Reads the bytes of a file (source.h). 'out' has the bytes to deliver, from index 'next' on; 'in'
   has compressed bytes. A gzip file may have several members, whose checksums are verified. Data
   after the last member are skipped. */
#include "source.h"
#include "descriptor.h"
#include "filekind.h"
#include "input.h"
#include "spill.h"
#include "decompressor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKED	65536
#define ROOM	(2 * SOURCE_PIECE)

struct Source {
  int fd;
  int ended;              /* 1: the file has ended or a read has failed */
  int inmember;           /* gzip: 1 if a member was started and has not ended */
  int members;            /* gzip: 1 if at least one member has ended */
  enum FileKind kind;
  const char *failure;
  uint64_t offset;        /* bytes returned or skipped */
  uint64_t fetched;       /* bytes read from the file */
  uint64_t filesize;      /* size of the file when it was opened, bytes; 0: unknown */
  size_t next, ready;     /* 'next': index in 'out' of the first byte to deliver; 'ready': number
                             of bytes to deliver */
  Decompressor *decompressor;     /* NULL: not compressed */
  const unsigned char *nextin;
  size_t nin;             /* number of compressed bytes from 'nextin' on */
  unsigned char in[PACKED], out[ROOM];
};

/* Returns the size of a regular file, else 0. */
static uint64_t source_size (const Source *s) {
  struct stat file;
  return fstat(s->fd, &file) == 0 && S_ISREG(file.st_mode) ? (uint64_t)file.st_size : 0;
}

/* Reads up to 'room' bytes of the file to 'to', without decompression. Returns their number; 0 at
   the end or on failure. */
static size_t fetch (Source *s, unsigned char *to, size_t room) {
  ssize_t n;
  if (s->filesize != 0 && room > s->filesize - s->fetched)
    room = (size_t)(s->filesize - s->fetched);
  do {
    n = read(s->fd, to, room);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    s->failure = strerror(errno);
    return 0;
  }
  s->fetched += (uint64_t)n;
  return (size_t)n;
}

static void source_end (Source *s, const char *failure) {
  s->ended = 1;
  if (s->failure == NULL)
    s->failure = failure;
}

/* Returns 1 if a gzip member has ended and no header of another member was read. */
static int isafterlast (const Source *s) {
  return s->members && !decompressor_inmember(s->decompressor);
}

/* Reads more compressed input to s->in. Returns 0 at the end of the file or after a failure. */
static int refill (Source *s) {
  s->nextin = s->in;
  s->nin = fetch(s, s->in, PACKED);
  if (s->nin == 0)
    source_end(s, s->inmember && !isafterlast(s) ? "the file ends inside compressed data" : NULL);
  return s->nin > 0;
}

/* Decompresses up to 'room' bytes to 'to'. Returns their number; 0 only at the end of the file or
   after a failure. */
static size_t unpack (Source *s, unsigned char *to, size_t room) {
  size_t left = room;
  while (left == room && !s->ended) {
    size_t before;
    int how, stuck;
    if (!s->inmember && s->nin == 0 && !refill(s))
      break;
    s->inmember = 1;
    before = s->nin;
    how = decompressor_step(s->decompressor, &s->nextin, &s->nin, &to, &left);
    stuck = left == room && s->nin == before;
    if (how == DECOMPRESSOR_END) {
      s->inmember = 0;
      s->members = 1;
    }
    else if (how == DECOMPRESSOR_MORE && stuck && s->nin == 0)
      refill(s);
    else if (how == DECOMPRESSOR_BAD || stuck)
      source_end(s, isafterlast(s) ? NULL : "the compressed data of the file are corrupt");
  }
  return room - left;
}

/* Appends bytes of the file to 'out'. Returns 0 at the end or after a failure. */
static int source_fill (Source *s) {
  size_t n, room;
  if (s->ended)
    return 0;
  memmove(s->out, s->out + s->next, s->ready);
  s->next = 0;
  room = ROOM - s->ready;
  if (s->decompressor != NULL)
    n = unpack(s, s->out + s->ready, room);
  else {
    n = fetch(s, s->out + s->ready, room);
    if (n == 0)
      source_end(s, NULL);
  }
  s->ready += n;
  return n > 0;
}

const unsigned char *source_take (Source *s, size_t n) {
  const unsigned char *at;
  while (s->ready < n) {
    if (!source_fill(s))
      return NULL;
  }
  at = s->out + s->next;
  s->next += n;
  s->ready -= n;
  s->offset += n;
  return at;
}

uint64_t source_read (Source *s, void *to, uint64_t n) {
  uint64_t done = 0;
  while (done < n) {
    size_t step;
    if (s->ready == 0 && !source_fill(s))
      break;
    step = n - done < s->ready ? (size_t)(n - done) : s->ready;
    if (to != NULL)
      memcpy((unsigned char *)to + done, s->out + s->next, step);
    s->next += step;
    s->ready -= step;
    done += step;
  }
  s->offset += done;
  return done;
}

/* Copies standard input to an unnamed file. Returns its descriptor, or -1 with errno. */
static int spool (void) {
  const char *folder = getenv("TMPDIR");
  char piece[PACKED];
  ssize_t n;
  int fd = spill_file(folder != NULL && folder[0] != '\0' ? folder : "/tmp");
  if (fd < 0)
    return -1;
  while ((n = read(0, piece, sizeof(piece))) != 0) {
    int e = n > 0 ? descriptor_write(fd, piece, (size_t)n)
          : errno == EINTR ? 0 : errno;
    if (e != 0) {
      close(fd);
      errno = e;
      return -1;
    }
  }
  return fd;
}

/* Returns a descriptor of standard input, at the offset that it had at the first call. If standard
   input cannot seek, as a pipe, returns a descriptor of a copy of its data, at the start of the
   copy. Returns -1 with errno on failure. */
static int standardinput (void) {
  static int from = -1;    /* standard input or its copy; -1: not opened */
  static off_t start;      /* offset in 'from' at which the data start */
  int fd;
  if (from < 0) {
    start = lseek(0, 0, SEEK_CUR);
    from = start >= 0 ? 0 : spool();
    start = start >= 0 ? start : 0;
    if (from < 0)
      return -1;
  }
  fd = fcntl(from, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0)
    lseek(fd, start, SEEK_SET);
  return fd;
}

Source *source_open (const char *path) {
  Source *s = calloc(1, sizeof(*s));
  size_t n;
  if (s == NULL)
    return NULL;
  s->fd = strcmp(path, "-") == 0 ? standardinput() : input_open(path);
  if (s->fd < 0) {
    free(s);
    return NULL;
  }
  s->filesize = source_size(s);
  n = fetch(s, s->in, PACKED);
  if (n == 0)
    source_end(s, NULL);
  else if (n >= 2 && s->in[0] == 0x1f && s->in[1] == 0x8b) {
    s->nextin = s->in;
    s->nin = n;
    s->decompressor = decompressor_new();
    if (s->decompressor == NULL) {
      source_close(s);
      errno = ENOMEM;
      return NULL;
    }
  }
  else {
    memcpy(s->out, s->in, n);
    s->ready = n;
  }
  if (s->decompressor != NULL)
    source_fill(s);
  s->kind = filekind_of(s->out, s->ready < FILEKIND_HEAD ? s->ready : FILEKIND_HEAD);
  return s;
}

void source_close (Source *s) {
  decompressor_free(s->decompressor);
  close(s->fd);
  free(s);
}

uint64_t source_offset (const Source *s) {
  return s->offset;
}

uint64_t source_fetched (const Source *s) {
  return s->fetched;
}

double source_fraction (const Source *s) {
  if (s->filesize == 0)
    return 0;
  return s->fetched < s->filesize ? (double)s->fetched / (double)s->filesize
                                  : 1;
}

int source_packed (const Source *s) {
  return s->decompressor != NULL;
}

int source_live (const Source *s) {
  if (flock(s->fd, LOCK_SH | LOCK_NB) == 0) {
    flock(s->fd, LOCK_UN);
    return source_size(s) > s->filesize;
  }
  return errno == EWOULDBLOCK;
}

int source_replaced (const Source *s, const char *path) {
  struct stat opened, named;
  return strcmp(path, "-") != 0 && fstat(s->fd, &opened) == 0 && stat(path, &named) == 0 &&
         (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev);
}

void source_other (const Source *s, char to[SOURCE_OTHER]) {
  const char *name = filekind_name(s->kind), *remedy = filekind_remedy(s->kind);
  to[0] = '\0';
  if (name == NULL || s->kind == FILEKIND_NOTHING || s->kind == FILEKIND_PROFILE ||
      s->kind == FILEKIND_LOG)
    return;
  snprintf(to, SOURCE_OTHER, remedy != NULL ? "; this is %s (%s)" : "; this is %s",
           name, remedy);
}

const char *source_failure (const Source *s) {
  return s->failure;
}
