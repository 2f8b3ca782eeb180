/* SPDX-License-Identifier: MIT */
/* Growing byte buffers, validation of UTF-8, and the little-endian numbers of files. */
#ifndef asamp_bytes_h
#define asamp_bytes_h

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
** A buffer that grows. After a failed allocation, 'failed' stays 1 and appending does nothing;
** the content is kept.
*/
typedef struct Bytes {
  unsigned char *data;
  size_t n;         /* bytes in use */
  size_t size;      /* bytes allocated */
  int failed;
} Bytes;

/* Slow path of bytes_grow: reallocates the buffer. */
unsigned char *bytes_growmore (Bytes *b, size_t n);

/* Appends n uninitialized bytes and returns their address; NULL if there is not enough memory. */
static inline unsigned char *bytes_grow (Bytes *b, size_t n) {
  if (b->failed || b->size - b->n < n)
    return bytes_growmore(b, n);
  b->n += n;
  return b->data + b->n - n;
}

void bytes_add (Bytes *b, const void *data, size_t n);
void bytes_char (Bytes *b, char c);
/* Append the character 'before' (unless 0) and the number in decimal. */
void bytes_decimal (Bytes *b, char before, uint64_t n);
void bytes_signed (Bytes *b, char before, int64_t n);
void bytes_free (Bytes *b);

/*
** Returns the length of the UTF-8 sequence at s, with n >= 1 bytes available; 0 if it is
** invalid: truncated, overlong, a surrogate, or out of range.
*/
size_t bytes_sequence (const unsigned char *s, size_t n);

/* Returns 1 if the n bytes are valid UTF-8. */
int bytes_isutf8 (const char *text, size_t n);

/* U+FFFD, which replaces an invalid byte. */
#define BYTES_REPLACEMENT	"\xef\xbf\xbd"

static inline int bytes_iscontrol (unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

/* Appends n bytes as valid UTF-8; with 'line', control characters become ';'. */
void bytes_text (Bytes *b, const char *text, size_t n, int line);

static inline uint64_t bytes_getword (const unsigned char *from) {
  uint64_t w;
  memcpy(&w, from, sizeof(w));
  return le64toh(w);
}

static inline uint32_t bytes_gethalf (const unsigned char *from) {
  uint32_t w;
  memcpy(&w, from, sizeof(w));
  return le32toh(w);
}

static inline void bytes_putword (unsigned char *to, uint64_t w) {
  w = htole64(w);
  memcpy(to, &w, sizeof(w));
}

#endif
