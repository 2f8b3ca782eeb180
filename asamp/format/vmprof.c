/* SPDX-License-Identifier: MIT */
/* The encoding of a VMProf log (vmprof.h). */
#include "vmprof.h"

#include <string.h>

void vmprof_word (Bytes *b, uint64_t w) {
  unsigned char *to = bytes_grow(b, 8);
  if (to != NULL)
    bytes_putword(to, w);
}

void vmprof_start (Bytes *b, uint64_t period, int version, int mode, const char *interpreter) {
  size_t n = strlen(interpreter);
  vmprof_word(b, 0);
  vmprof_word(b, 3);
  vmprof_word(b, 0);
  vmprof_word(b, period);
  vmprof_word(b, 0);
  bytes_char(b, VMPROF_HEADER);
  bytes_char(b, 0);  /* high byte of the version, the only big-endian number of the format */
  bytes_char(b, (char)version);
  bytes_char(b, (char)mode);
  bytes_char(b, (char)n);
  bytes_add(b, interpreter, n);
}

void vmprof_time (Bytes *b, int marker, uint64_t us) {
  bytes_char(b, (char)marker);
  vmprof_word(b, us / 1000000);
  vmprof_word(b, us % 1000000);
  vmprof_word(b, 0);  /* time zone, which readers ignore */
}

void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n) {
  size_t keylen = strlen(key);
  size_t at;
  bytes_char(b, VMPROF_META);
  vmprof_word(b, keylen);
  bytes_add(b, key, keylen);
  at = b->n;
  vmprof_word(b, 0);
  bytes_text(b, value, n, 0);
  if (!b->failed)
    bytes_putword(b->data + at, b->n - at - 8);
}

void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name) {
  size_t n = strlen(name);
  bytes_char(b, (char)marker);
  vmprof_word(b, id);
  vmprof_word(b, n);
  bytes_add(b, name, n);
}

void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth) {
  vmprof_record(b, marker, vmprof_seconds(seconds), depth, 0);
}

uint64_t vmprof_seconds (double seconds) {
  uint64_t w;
  memcpy(&w, &seconds, sizeof(w));
  return w;
}

unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth, size_t words) {
  unsigned char *to = bytes_grow(b, 17 + 8 * words);
  if (to == NULL)
    return NULL;
  *to++ = (unsigned char)marker;
  bytes_putword(to, lead);
  bytes_putword(to + 8, depth);
  return to + 16;
}
