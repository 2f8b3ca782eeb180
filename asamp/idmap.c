/* SPDX-License-Identifier: MIT */
/*
** A hash map from ids to numbers: open addressing with linear probing, at
** most three quarters full. See idmap.h.
*/
#include "idmap.h"

#include <stdlib.h>
#include <string.h>

/* Index of the entry of 'id', or of the free one where it would go. */
static size_t find (const struct IdEntry *entries, size_t size, uint64_t id) {
  size_t i = (size_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);
  while (entries[i].id != 0 && entries[i].id != id)
    i = (i + 1) & (size - 1);
  return i;
}

static int grow (IdMap *m) {
  size_t size = m->size == 0 ? 64 : m->size * 2;
  struct IdEntry *entries = calloc(size, sizeof(*entries));
  size_t i;
  if (entries == NULL)
    return 0;
  for (i = 0; i < m->size; i++) {
    if (m->entries[i].id != 0)
      entries[find(entries, size, m->entries[i].id)] = m->entries[i];
  }
  free(m->entries);
  m->entries = entries;
  m->size = size;
  return 1;
}

uint32_t *idmap_at (IdMap *m, uint64_t id, int *isnew) {
  size_t i;
  if (m->n * 4 >= m->size * 3 && !grow(m))
    return NULL;
  i = find(m->entries, m->size, id);
  *isnew = m->entries[i].id == 0;
  if (*isnew) {
    m->entries[i].id = id;
    m->n++;
  }
  return &m->entries[i].value;
}

const uint32_t *idmap_find (const IdMap *m, uint64_t id) {
  size_t i;
  if (m->size == 0)
    return NULL;
  i = find(m->entries, m->size, id);
  return m->entries[i].id == 0 ? NULL : &m->entries[i].value;
}

void idmap_free (IdMap *m) {
  free(m->entries);
  memset(m, 0, sizeof(*m));
}
