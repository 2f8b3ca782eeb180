/* SPDX-License-Identifier: MIT */
/* Growing byte buffers, validation of UTF-8, and access to little-endian numbers of files. */
#ifndef asamp_bytes_h
#define asamp_bytes_h

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing buffer. All zero: empty. After a failed allocation 'failed' is 1 until bytes_free,
   the content is kept, and appending does nothing. */
typedef struct Bytes {
  unsigned char *data;
  size_t n;         /* number of bytes of the content */
  size_t size;      /* capacity of 'data', bytes */
  int failed;
} Bytes;

/* Slow path of bytes_grow. */
unsigned char *bytes_growmore (Bytes *b, size_t n);

/* Appends n uninitialized bytes. Returns their address, valid until the next append, or NULL if out
   of memory. */
static inline unsigned char *bytes_grow (Bytes *b, size_t n) {
  if (b->failed || b->size - b->n < n)
    return bytes_growmore(b, n);
  b->n += n;
  return b->data + b->n - n;
}

/* Appends n bytes. */
void bytes_add (Bytes *b, const void *data, size_t n);
/* Appends a character. */
void bytes_char (Bytes *b, char c);

/* Appends the character 'before', unless 'before' is 0, and then the number n in decimal. */
void bytes_decimal (Bytes *b, char before, uint64_t n);
void bytes_signed (Bytes *b, char before, int64_t n);

/* Frees the content; the buffer is then empty. */
void bytes_free (Bytes *b);

/* Returns the length in bytes of the UTF-8 sequence at the start of s, or 0 if the sequence is
   invalid. s has n >= 1 bytes. */
size_t bytes_sequence (const unsigned char *s, size_t n);

/* Returns the length of a text of n bytes without an incomplete UTF-8 sequence at its end. Returns
   n if the text does not end with such a sequence. */
size_t bytes_whole (const char *s, size_t n);

/* U+FFFD, which replaces an invalid byte. */
#define BYTES_REPLACEMENT	"\xef\xbf\xbd"

/* Returns 1 for a control character of ASCII. */
static inline int bytes_iscontrol (unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

/* Appends n bytes as valid UTF-8, with BYTES_REPLACEMENT for invalid ones. If 'line' is not 0,
   control characters become ';'. */
void bytes_text (Bytes *b, const char *text, size_t n, int line);

/* Returns the little-endian 64-bit number at an address, which may be unaligned. */
static inline uint64_t bytes_getword (const unsigned char *from) {
  uint64_t w;
  memcpy(&w, from, sizeof(w));
  return le64toh(w);
}

/* Returns the little-endian 32-bit number at an address, which may be unaligned. */
static inline uint32_t bytes_gethalf (const unsigned char *from) {
  uint32_t w;
  memcpy(&w, from, sizeof(w));
  return le32toh(w);
}

/* Stores a 64-bit number in little-endian order at an address, which may be unaligned. */
static inline void bytes_putword (unsigned char *to, uint64_t w) {
  w = htole64(w);
  memcpy(to, &w, sizeof(w));
}

#endif
