/* SPDX-License-Identifier: MIT */
/* Growing byte buffers (bytes.h), allocated by spare_realloc. */
#include "bytes.h"
#include "spare.h"

#include <stdlib.h>

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
    data = spare_realloc(b->data, size);
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

/* Returns the number of decimal digits of n. */
static size_t digitsof (uint64_t n) {
  size_t digits = 1;
  for (; n >= 1000; n /= 1000)
    digits += 3;
  return digits + (n >= 10) + (n >= 100);
}

/* Appends 'before' and the decimal number n, for the numbers that bytes_decimal does not handle
   itself. Not inlined, so that bytes_decimal stays fast. */
static __attribute__((noinline)) void decimal (Bytes *b, char before, uint64_t n) {
  size_t digits = digitsof(n);
  unsigned char *to = bytes_grow(b, digits + (before != 0));
  if (to == NULL)
    return;
  if (before != 0)
    *to++ = (unsigned char)before;
  for (to += digits; n >= 10; n /= 10)
    *--to = (unsigned char)('0' + n % 10);
  *--to = (unsigned char)('0' + n);
}

/* Appends 'before' and the decimal number n. Handles one or two digits, the usual case,
   directly. */
void bytes_decimal (Bytes *b, char before, uint64_t n) {
  size_t two = n >= 10;
  unsigned char *to;
  if (n >= 100 || before == 0 || b->failed || b->size - b->n < 3) {
    decimal(b, before, n);
    return;
  }
  to = b->data + b->n;
  b->n += 2 + two;
  to[0] = (unsigned char)before;
  if (two)
    to[1] = (unsigned char)('0' + n / 10);
  to[1 + two] = (unsigned char)('0' + n % 10);
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

size_t bytes_sequence (const unsigned char *s, size_t n) {
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

size_t bytes_whole (const char *s, size_t n) {
  size_t last = n;
  while (last > 0 && n - last < 3 && ((unsigned char)s[last - 1] & 0xc0) == 0x80) last--;
  return last > 0 && (unsigned char)s[last - 1] >= 0xc0 &&
         bytes_sequence((const unsigned char *)s + last - 1, n - last + 1) == 0 ? last - 1 : n;
}

/* Returns the length of the ASCII text at the start of s. If 'line' is not 0, the text ends before
   a control character. */
static size_t plain (const unsigned char *s, size_t n, int line) {
  size_t i = 0;
  if (!line) {
    while (n - i >= 8 && (bytes_getword(s + i) & UINT64_C(0x8080808080808080)) == 0)
      i += 8;
  }
  while (i < n && s[i] < 0x80 && !(line && bytes_iscontrol(s[i])))
    i++;
  return i;
}

void bytes_text (Bytes *b, const char *text, size_t n, int line) {
  const unsigned char *s = (const unsigned char *)text;
  while (n > 0) {
    size_t len = plain(s, n, line);
    if (len == 0)
      len = bytes_sequence(s, n);
    if (len == 0) {
      bytes_add(b, BYTES_REPLACEMENT, 3);
      len = 1;
    }
    else if (line && bytes_iscontrol(*s))
      bytes_char(b, ';');
    else
      bytes_add(b, s, len);
    s += len;
    n -= len;
  }
}
