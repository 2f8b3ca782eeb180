/* SPDX-License-Identifier: MIT */
/*
** The bytes of a VMProf log. The layout and the invariants V1 to V3 are
** described in vmprof.h and doc/profile-format.md. Allocates with realloc
** only, and only to let a buffer grow.
*/
#include "vmprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ buffers -- */

unsigned char *bytes_growmore (Bytes *b, size_t n) {
  if (b->failed)
    return NULL;
  if (b->size - b->n < n) {
    size_t size = b->size < 1024 ? 1024 : b->size;
    unsigned char *data;
    while (size - b->n < n) {
      if (size > SIZE_MAX / 2) {
        b->failed = 1;
        return NULL;
      }
      size *= 2;
    }
    data = realloc(b->data, size);
    if (data == NULL) {
      b->failed = 1;
      return NULL;
    }
    b->data = data;
    b->size = size;
  }
  b->n += n;
  return b->data + b->n - n;
}

void bytes_add (Bytes *b, const void *data, size_t n) {
  if (n > 0) {
    unsigned char *to = bytes_grow(b, n);
    if (to != NULL)
      memcpy(to, data, n);
  }
}

void bytes_char (Bytes *b, char c) {
  unsigned char *to = bytes_grow(b, 1);
  if (to != NULL)
    *to = (unsigned char)c;
}

void bytes_decimal (Bytes *b, char before, uint64_t n) {
  char text[24];
  char *p = text + sizeof(text);
  do {
    *--p = (char)('0' + n % 10);
    n /= 10;
  } while (n > 0);
  if (before != 0)
    *--p = before;
  bytes_add(b, p, (size_t)(text + sizeof(text) - p));
}

void bytes_signed (Bytes *b, char before, int64_t n) {
  if (n >= 0)
    bytes_decimal(b, before, (uint64_t)n);
  else {
    if (before != 0)
      bytes_char(b, before);
    bytes_decimal(b, '-', 0 - (uint64_t)n);
  }
}

void bytes_free (Bytes *b) {
  free(b->data);
  memset(b, 0, sizeof(*b));
}

/* --------------------------------------------------------------- text -- */

size_t vmprof_sequence (const unsigned char *s, size_t n) {
  size_t len, i;
  unsigned c = s[0];
  if (c < 0x80)
    return 1;
  len = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  if (len == 0 || len > n)
    return 0;
  for (i = 1; i < len; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  }
  if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] >= 0xa0) ||
      (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] >= 0x90))
    return 0;
  return len;
}

int vmprof_isutf8 (const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text;
  while (n > 0) {
    size_t len = vmprof_sequence(s, n);
    if (len == 0)
      return 0;
    s += len;
    n -= len;
  }
  return 1;
}

static const char replacement[] = "\xef\xbf\xbd";  /* U+FFFD */

static int iscontrol (unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

/* ASCII without control characters that n bytes begin with. */
static size_t plain (const unsigned char *s, size_t n) {
  size_t i = 0;
  while (i < n && s[i] < 0x80 && !iscontrol(s[i]))
    i++;
  return i;
}

/* Appends n bytes as valid UTF-8, in one 'line' or as they are. */
static void addtext (Bytes *b, const char *text, size_t n, int line) {
  const unsigned char *s = (const unsigned char *)text;
  while (n > 0) {
    size_t len = plain(s, n);
    if (len == 0)
      len = vmprof_sequence(s, n);
    if (len == 0) {
      bytes_add(b, replacement, 3);
      len = 1;
    }
    else if (line && iscontrol(*s))
      bytes_char(b, ';');
    else
      bytes_add(b, s, len);
    s += len;
    n -= len;
  }
}

void vmprof_text (Bytes *b, const char *text, size_t n) {
  addtext(b, text, n, 1);
}

/*
** Writes a field of a name to 'out', at most 'room' bytes and the NUL: valid
** UTF-8 without colons and control characters, cut at the end of a
** character. Returns the length.
*/
static size_t putfield (char *out, size_t room, const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  size_t n = strlen(text);
  size_t used = 0;
  while (n > 0) {
    size_t len = vmprof_sequence(s, n);
    size_t step = len == 0 ? 1 : len;
    const char *from = (const char *)s;
    if (len == 0) {
      from = replacement;
      len = 3;
    }
    else if (iscontrol(*s) || *s == ':')
      from = ";";
    if (used + len > room)
      break;
    memcpy(out + used, from, len);
    used += len;
    s += step;
    n -= step;
  }
  out[used] = '\0';
  return used;
}

/*
** As putfield, for a path: what does not fit goes at the beginning, where
** "..." stands for it. (A replaced byte takes three, hence the loop: the
** tail is shortened until it fits whole.)
*/
static size_t putpath (char *out, size_t room, const char *path) {
  char whole[3 * VMPROF_NAMELIMIT + 1];
  size_t n = strlen(path);
  size_t used;
  const char *tail;
  if (n > VMPROF_NAMELIMIT)
    n = VMPROF_NAMELIMIT;
  used = putfield(whole, sizeof(whole) - 1, path + strlen(path) - n);
  if (used <= room && n == strlen(path)) {
    memcpy(out, whole, used + 1);
    return used;
  }
  tail = used > room - 3 ? whole + used - (room - 3) : whole;
  while (((unsigned char)*tail & 0xc0) == 0x80)
    tail++;  /* not in the middle of a character */
  memcpy(out, "...", 3);
  n = strlen(tail);
  memcpy(out + 3, tail, n + 1);
  return n + 3;
}

/* Bytes that a function's name may take; the rest is for the file. */
#define NAMEROOM	400

void vmprof_luaname (char *out, const char *name, int line,
                     const char *source) {
  size_t n;
  if (*source == '@' || *source == '=')
    source++;
  memcpy(out, "py:", 3);
  n = 3 + putfield(out + 3, NAMEROOM, *name == '\0' ? "?" : name);
  n += (size_t)sprintf(out + n, ":%d:", line < 0 ? 0 : line);
  putpath(out + n, VMPROF_NAMELIMIT - n, *source == '\0' ? "-" : source);
}

void vmprof_nativename (char *out, const char *symbol, const char *library) {
  size_t n;
  memcpy(out, "n:", 2);
  n = 2 + putfield(out + 2, NAMEROOM, *symbol == '\0' ? "?" : symbol);
  memcpy(out + n, ":0:", 3);
  n += 3;
  putpath(out + n, VMPROF_NAMELIMIT - n, *library == '\0' ? "-" : library);
}

/* ------------------------------------------------------------ records -- */

void vmprof_word (Bytes *b, uint64_t w) {
  unsigned char *to = bytes_grow(b, 8);
  if (to != NULL)
    vmprof_putword(to, w);
}

void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter) {
  size_t n = strlen(interpreter);
  vmprof_word(b, 0);
  vmprof_word(b, 3);
  vmprof_word(b, 0);
  vmprof_word(b, period);
  vmprof_word(b, 0);
  bytes_char(b, VMPROF_HEADER);
  bytes_char(b, 0);  /* the version is the only big-endian number */
  bytes_char(b, (char)version);
  bytes_char(b, (char)mode);
  bytes_char(b, (char)n);
  bytes_add(b, interpreter, n);
}

void vmprof_time (Bytes *b, int marker, uint64_t us) {
  bytes_char(b, (char)marker);
  vmprof_word(b, us / 1000000);
  vmprof_word(b, us % 1000000);
  vmprof_word(b, 0);  /* zone, which nobody reads */
}

void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n) {
  size_t keylen = strlen(key);
  size_t at;
  bytes_char(b, VMPROF_META);
  vmprof_word(b, keylen);
  bytes_add(b, key, keylen);
  at = b->n;
  vmprof_word(b, 0);
  addtext(b, value, n, 0);
  if (!b->failed)
    vmprof_putword(b->data + at, b->n - at - 8);
}

void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name) {
  size_t n = strlen(name);
  bytes_char(b, (char)marker);
  vmprof_word(b, id);
  vmprof_word(b, n);
  bytes_add(b, name, n);
}

void vmprof_counted (Bytes *b, int marker, uint64_t depth) {
  bytes_char(b, (char)marker);
  vmprof_word(b, 1);
  vmprof_word(b, depth);
}

void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth) {
  uint64_t w;
  memcpy(&w, &seconds, sizeof(w));
  bytes_char(b, (char)marker);
  vmprof_word(b, w);
  vmprof_word(b, depth);
}
