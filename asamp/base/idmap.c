/* SPDX-License-Identifier: MIT */
/* Hash map with open addressing and linear probing, at most three quarters full (idmap.h). */
#include "idmap.h"
#include "hash.h"
#include "bounds.h"
#include "spare.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the entry of 'id' or, if the map has none, of the free slot for it. Uses
   hash_words, which multiplies twice, because the distances between ids are often equal. With the
   single multiplication of hash_word, one random hash key in 150 would place such ids in long runs
   of slots. */
static size_t idmap_find (const struct IdEntry *entries, size_t size, uint64_t id) {
  size_t i = (size_t)hash_words(id, 0) & (size - 1);
  HASH_STEP();
  while (entries[i].id != 0 && entries[i].id != id) {
    i = (i + 1) & (size - 1);
    HASH_STEP();
  }
  return i;
}

/* Frees the entries. */
static void idmap_release (IdMap *m) {
  if (m->memory == NULL)
    free(m->entries);
  else if (m->entries != NULL)
    m->memory(NULL, m->entries, m->size * sizeof(*m->entries), 0);
}

/* Doubles the capacity. Returns 0 and changes nothing if out of memory. */
static int idmap_grow (IdMap *m) {
  size_t size = m->size == 0 ? BOUND_FIRST(64) : m->size * 2;
  struct IdEntry *entries = m->memory != NULL
    ? m->memory(NULL, NULL, 0, size * sizeof(*entries)) : spare_calloc(size, sizeof(*entries));
  size_t i;
  if (entries == NULL)
    return 0;
  hash_prepare();
  for (i = 0; i < m->size; i++) {
    if (m->entries[i].id != 0)
      entries[idmap_find(entries, size, m->entries[i].id)] = m->entries[i];
  }
  idmap_release(m);
  m->entries = entries;
  m->size = size;
  return 1;
}

uint32_t idmap_get (const IdMap *m, uint64_t id) {
  size_t i;
  if (m->size == 0)
    return IDMAP_NONE;
  i = idmap_find(m->entries, m->size, id);
  return m->entries[i].id == 0 ? IDMAP_NONE : m->entries[i].value;
}

int idmap_set (IdMap *m, uint64_t id, uint32_t value) {
  size_t i = 0;
  if (m->size > 0) {
    i = idmap_find(m->entries, m->size, id);
    if (m->entries[i].id == id) {
      m->entries[i].value = value;
      return 1;
    }
  }
  if (m->n * 4 >= m->size * 3) {
    if (!idmap_grow(m))
      return 0;
    i = idmap_find(m->entries, m->size, id);
  }
  m->entries[i].id = id;
  m->entries[i].value = value;
  m->n++;
  return 1;
}

void idmap_free (IdMap *m) {
  idmap_release(m);
  memset(m, 0, sizeof(*m));
}
