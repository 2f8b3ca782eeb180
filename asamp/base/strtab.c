/* SPDX-License-Identifier: MIT */
/* Table of strings (strtab.h): one buffer, and a map from hashes to offsets in the buffer. The
   string's hash is its key in the map. If another string has this key already, the next larger
   free number is the key. */
#include "strtab.h"
#include "hash.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int strtab_init (StrTab *t, uint32_t limit) {
  memset(t, 0, sizeof(*t));
  t->limit = limit;
  t->size = BOUND_FIRST(1024);
  t->text = spare_calloc(t->size, 1);
  t->n = 1;
  return t->text != NULL;
}

void strtab_free (StrTab *t) {
  free(t->text);
  idmap_free(&t->byhash);
  memset(t, 0, sizeof(*t));
}

/* Reserves space for n more bytes. Returns 0 if out of memory. */
static int strtab_room (StrTab *t, size_t n) {
  uint32_t size = t->size;
  char *text;
  while (size - t->n < n)
    size *= 2;
  if (size == t->size && (BOUND_MOVES == 0 || size > BOUND_MOVES))
    return 1;
  text = BOUND_MOVES > 0 ? list_move(t->text, t->n, size)
                          : spare_realloc(t->text, size);
  if (text == NULL)
    return 0;
  t->text = text;
  t->size = size;
  return 1;
}

/* Returns the number of bytes before the first NUL. */
static size_t length (const char *s, size_t n) {
  const char *nul = memchr(s, '\0', n);
  return nul != NULL ? (size_t)(nul - s) : n;
}

/* Returns the offset in t->text of a string of n > 0 bytes; IDMAP_NONE: the table does not have it.
   Sets *key to the string's key in 'byhash'. */
static uint32_t seek (const StrTab *t, const char *s, size_t n, uint64_t *key) {
  uint64_t k;
  for (k = hash_bytes(s, n); ; k++) {
    uint32_t number;
    if (k == 0)
      continue;
    number = idmap_get(&t->byhash, k);
    if (number == IDMAP_NONE || (strncmp(t->text + number, s, n) == 0 &&
                                 t->text[number + n] == '\0')) {
      *key = k;
      return number;
    }
  }
}

uint32_t strtab_find (const StrTab *t, const char *s, size_t n) {
  uint64_t key;
  n = length(s, n);
  return n > 0 ? seek(t, s, n, &key) : 0;
}

uint32_t strtab_put (StrTab *t, const char *s, size_t n) {
  uint64_t key;
  uint32_t number;
  n = length(s, n);
  if (n == 0 || t->failed)
    return 0;
  number = seek(t, s, n, &key);
  if (number != IDMAP_NONE)
    return number;
  if (n >= t->limit - t->n) {
    t->left++;
    return 0;
  }
  number = t->n;
  if (!strtab_room(t, n + 1) || !idmap_set(&t->byhash, key, number)) {
    t->failed = 1;
    return 0;
  }
  memcpy(t->text + t->n, s, n);
  t->text[t->n + n] = '\0';
  t->n += (uint32_t)n + 1;
  return number;
}
