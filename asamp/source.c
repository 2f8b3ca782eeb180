/* SPDX-License-Identifier: MIT */
/*
** A source of bytes, plain or gzip. See source.h.
**
** The packed bytes go through 'in', the unpacked ones through 'out'; of a
** plain file 'in' itself is handed out. A gzip file may have several members
** one after the other; what follows them and is no member is passed over, as
** gzip does. The checksum of a member is verified where its data end.
*/
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER	65536

struct Source {
  int fd;
  int packed;
  int ended;              /* no more bytes: end or failure */
  int inmember;           /* packed: within a member of the file */
  int members;            /* packed: 1 once a whole member was read */
  const char *failure;
  uint64_t offset;
  const unsigned char *next;   /* of the bytes ready to be handed out */
  size_t ready;
  z_stream z;
  unsigned char in[BUFFER], out[BUFFER];
};

/* Reads the next piece of the file into 'in'; 0 at the end or on failure. */
static size_t fetch (Source *s) {
  ssize_t n;
  do {
    n = read(s->fd, s->in, BUFFER);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    s->failure = strerror(errno);
    return 0;
  }
  return (size_t)n;
}

static void end (Source *s, const char *failure) {
  s->ended = 1;
  if (s->failure == NULL)
    s->failure = failure;
}

static void fillplain (Source *s) {
  s->ready = fetch(s);
  s->next = s->in;
  if (s->ready == 0)
    end(s, NULL);
}

/* Unpacks until there is something to hand out. */
static void fillpacked (Source *s) {
  s->next = s->out;
  s->z.next_out = s->out;
  s->z.avail_out = BUFFER;
  while (s->z.avail_out == BUFFER) {
    int r;
    if (s->z.avail_in == 0) {
      s->z.next_in = s->in;
      s->z.avail_in = (uInt)fetch(s);
      if (s->z.avail_in == 0) {
        end(s, s->inmember ? "compressed data end too early" : NULL);
        break;
      }
    }
    if (!s->inmember) {
      inflateReset(&s->z);
      s->inmember = 1;
    }
    r = inflate(&s->z, Z_NO_FLUSH);
    if (r == Z_STREAM_END) {
      s->inmember = 0;
      s->members = 1;
    }
    else if (r == Z_DATA_ERROR && s->members && s->z.total_out == 0) {
      end(s, NULL);  /* no member, but something behind the last one */
      break;
    }
    else if (r != Z_OK && r != Z_BUF_ERROR) {
      end(s, r == Z_MEM_ERROR ? "not enough memory"
                              : "compressed data are corrupt");
      break;
    }
  }
  s->ready = BUFFER - s->z.avail_out;
}

size_t source_read (Source *s, void *to, size_t n) {
  size_t done = 0;
  while (done < n) {
    size_t step;
    if (s->ready == 0) {
      if (s->ended)
        break;
      if (s->packed)
        fillpacked(s);
      else
        fillplain(s);
      continue;
    }
    step = n - done < s->ready ? n - done : s->ready;
    if (to != NULL)
      memcpy((unsigned char *)to + done, s->next, step);
    s->next += step;
    s->ready -= step;
    done += step;
  }
  s->offset += done;
  return done;
}

Source *source_open (const char *path) {
  Source *s = calloc(1, sizeof(*s));
  size_t n;
  if (s == NULL)
    return NULL;
  s->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (s->fd < 0) {
    free(s);
    return NULL;
  }
  n = fetch(s);
  if (n == 0)
    end(s, NULL);
  else if (n >= 2 && s->in[0] == 0x1f && s->in[1] == 0x8b) {
    s->packed = s->inmember = 1;
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)n;
    if (inflateInit2(&s->z, 15 + 16) != Z_OK) {
      close(s->fd);
      free(s);
      errno = ENOMEM;
      return NULL;
    }
  }
  else {
    s->next = s->in;
    s->ready = n;
  }
  return s;
}

void source_close (Source *s) {
  if (s->packed)
    inflateEnd(&s->z);
  close(s->fd);
  free(s);
}

uint64_t source_offset (const Source *s) {
  return s->offset;
}

int source_packed (const Source *s) {
  return s->packed;
}

const char *source_failure (const Source *s) {
  return s->failure;
}
