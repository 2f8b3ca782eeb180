/* SPDX-License-Identifier: MIT */
/* Growing byte buffers, validation of UTF-8, and access to little-endian numbers of files. */
#ifndef asamp_bytes_h
#define asamp_bytes_h

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
** A buffer that grows. All zero: empty. After a failed allocation, 'failed' is 1 until bytes_free;
** meanwhile the content is kept, and the functions that append do nothing.
*/
typedef struct Bytes {
  unsigned char *data;
  size_t n;         /* bytes in use */
  size_t size;      /* bytes allocated */
  int failed;
} Bytes;

/* Slow path of bytes_grow: reallocates the buffer if there is not enough free space. */
unsigned char *bytes_growmore (Bytes *b, size_t n);

/*
** Appends n uninitialized bytes. Returns their address, valid until the next append, or NULL if
** there is not enough memory.
*/
static inline unsigned char *bytes_grow (Bytes *b, size_t n) {
  if (b->failed || b->size - b->n < n)
    return bytes_growmore(b, n);
  b->n += n;
  return b->data + b->n - n;
}

/* Append n bytes, or one character. */
void bytes_add (Bytes *b, const void *data, size_t n);
void bytes_char (Bytes *b, char c);

/* Append the number n in decimal, after the character 'before' unless that is 0. */
void bytes_decimal (Bytes *b, char before, uint64_t n);
void bytes_signed (Bytes *b, char before, int64_t n);

/* Frees the content; the buffer is then empty and can be used again. */
void bytes_free (Bytes *b);

/*
** Returns the length of the UTF-8 sequence at s, where n >= 1 bytes are available; 0 if the
** sequence is invalid: truncated, overlong, a surrogate, or out of range.
*/
size_t bytes_sequence (const unsigned char *s, size_t n);

/* Returns 1 if the n bytes are valid UTF-8. */
int bytes_isutf8 (const char *text, size_t n);

/* U+FFFD, which replaces an invalid byte. */
#define BYTES_REPLACEMENT	"\xef\xbf\xbd"

/* Returns 1 for a control character of ASCII. */
static inline int bytes_iscontrol (unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

/*
** Appends n bytes as valid UTF-8: each invalid byte becomes BYTES_REPLACEMENT. If 'line' is not 0,
** each control character of ASCII becomes ';'.
*/
void bytes_text (Bytes *b, const char *text, size_t n, int line);

/* Read or write a little-endian number of 64 or 32 bits at any address. */
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
