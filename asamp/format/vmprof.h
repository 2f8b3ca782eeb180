/* SPDX-License-Identifier: MIT */
/*
** The bytes of a VMProf log: one function for each record, appending to a
** buffer that grows.
**
** Owns the layout (64-bit little-endian words) and the naming convention
** that the readers of these logs rely on. Knows no file, no thread, no clock
** and no Lua. Invariants:
**   V1  every string is valid UTF-8 (a reader rejects the whole file
**       otherwise);
**   V2  a name has exactly three colons and at most VMPROF_NAMELIMIT bytes;
**   V3  a record of words holds at most VMPROF_MAXWORDS of them.
** Upholding V3 is the caller's part, the rest is done here.
*/
#ifndef asamp_vmprof_h
#define asamp_vmprof_h

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VMPROF_MAXWORDS		65536
#define VMPROF_NAMELIMIT	1023

enum VmprofMarker {
  VMPROF_STACK = 1, VMPROF_NAME, VMPROF_TRAILER, VMPROF_INTERPRETER,
  VMPROF_HEADER, VMPROF_TIME, VMPROF_META, VMPROF_NATIVENAME,
  VMPROF_GCSTACK, VMPROF_OBJECTS
};

/* Bits of the header's mode byte. */
enum VmprofMode {
  VMPROF_MEMORY = 1, VMPROF_LINES = 2, VMPROF_NATIVE = 4, VMPROF_PAIRS = 8
};

/*
** A buffer that grows. Once an allocation has failed, 'failed' stays 1 and
** appending does nothing; what had been appended before is kept.
*/
typedef struct Bytes {
  unsigned char *data;
  size_t n;         /* bytes in use */
  size_t size;      /* bytes allocated */
  int failed;
} Bytes;

/* bytes_grow where the memory is not there yet. */
unsigned char *bytes_growmore (Bytes *b, size_t n);

/* Room for n more bytes, already counted as used; NULL without memory. */
static inline unsigned char *bytes_grow (Bytes *b, size_t n) {
  if (b->failed || b->size - b->n < n)
    return bytes_growmore(b, n);
  b->n += n;
  return b->data + b->n - n;
}

void bytes_add (Bytes *b, const void *data, size_t n);
void bytes_char (Bytes *b, char c);
/* 'before' (unless 0), then the number in decimal. */
void bytes_decimal (Bytes *b, char before, uint64_t n);
void bytes_signed (Bytes *b, char before, int64_t n);
void bytes_free (Bytes *b);

/* Are n bytes valid UTF-8? */
int vmprof_isutf8 (const char *text, size_t n);

/* n bytes as valid UTF-8 in one line: control characters become ';'. */
void vmprof_text (Bytes *b, const char *text, size_t n);

/*
** The five words and the header record. 'period': of time samples, in us, or
** 0; 'mode': enum VmprofMode.
*/
void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter);

/* VMPROF_TIME or VMPROF_TRAILER at that point of the epoch, in us. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/*
** 'value' is written as valid UTF-8. The caller never repeats a key, which
** is ASCII.
*/
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* VMPROF_NAME or VMPROF_NATIVENAME; 'name' from one of the two below. */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/*
** Length of the UTF-8 sequence at s, of which n >= 1 bytes are there; 0 when
** they are none (too short, too long an encoding, surrogate, out of range).
*/
size_t vmprof_sequence (const unsigned char *s, size_t n);

/*
** Compose "py:name:line:source" and "n:symbol:0:library" into 'out'
** (VMPROF_NAMELIMIT + 1 bytes). Colons and control characters become ';',
** what is no UTF-8 becomes U+FFFD, "@" and "=" before a source go, a long
** name loses its end and a long file its beginning.
*/
void vmprof_luaname (char *out, const char *name, int line,
                     const char *source);
void vmprof_nativename (char *out, const char *symbol, const char *library);

/*
** The start of a record of words: the marker, the word before the depth (a
** count of 1, or in version 7 a time in seconds), the depth.
*/
void vmprof_counted (Bytes *b, int marker, uint64_t depth);
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/* The 8 bytes of a word to 'to'. */
static inline void vmprof_putword (unsigned char *to, uint64_t w) {
  w = htole64(w);
  memcpy(to, &w, sizeof(w));
}

#endif
