/* SPDX-License-Identifier: MIT */
/*
** A table of strings: one buffer, and a map from hashes to offsets. Two
** strings of one hash have neighbouring keys. See strtab.h.
*/
#include "strtab.h"

#include <stdlib.h>
#include <string.h>

int strtab_init (StrTab *t, uint32_t limit) {
  memset(t, 0, sizeof(*t));
  t->limit = limit;
  t->size = 1024;
  t->text = calloc(t->size, 1);
  t->n = 1;
  return t->text != NULL;
}

void strtab_free (StrTab *t) {
  free(t->text);
  idmap_free(&t->byhash);
  memset(t, 0, sizeof(*t));
}

static uint64_t hash (const char *s, size_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i < n; i++)
    h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  return h;
}

/* Room for n more bytes. */
static int room (StrTab *t, size_t n) {
  uint32_t size = t->size;
  char *text;
  while (size - t->n < n)
    size *= 2;
  if (size == t->size)
    return 1;
  text = realloc(t->text, size);
  if (text == NULL)
    return 0;
  t->text = text;
  t->size = size;
  return 1;
}

uint32_t strtab_put (StrTab *t, const char *s, size_t n) {
  const char *nul = memchr(s, '\0', n);
  uint64_t key;
  uint32_t *at;
  int isnew = 0;
  if (nul != NULL)
    n = (size_t)(nul - s);
  if (n == 0 || t->failed)
    return 0;
  for (key = hash(s, n); ; key++) {
    const uint32_t *found;
    if (key == 0)
      continue;
    found = idmap_find(&t->byhash, key);
    if (found == NULL)
      break;
    if (strncmp(t->text + *found, s, n) == 0 && t->text[*found + n] == '\0')
      return *found;
  }
  if (n >= t->limit - t->n) {
    t->left++;
    return 0;
  }
  if (!room(t, n + 1) || (at = idmap_at(&t->byhash, key, &isnew)) == NULL) {
    t->failed = 1;
    return 0;
  }
  *at = t->n;
  memcpy(t->text + t->n, s, n);
  t->text[t->n + n] = '\0';
  t->n += (uint32_t)n + 1;
  return *at;
}
