/* SPDX-License-Identifier: MIT */
/*
** A hash map from ids (64-bit, never 0) to numbers. Entries are never
** removed. Knows nothing but memory.
*/
#ifndef asamp_idmap_h
#define asamp_idmap_h

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
typedef struct IdMap {
  struct IdEntry {
    uint64_t id;     /* 0: free */
    uint32_t value;
  } *entries;
  size_t n;          /* in use; at most three quarters of 'size' */
  size_t size;       /* 0 or a power of 2 */
} IdMap;

/*
** The value of 'id', which is new with the value 0 when it was not there
** (*isnew tells). The pointer holds until the next call. NULL without
** memory; the map is then as before.
*/
uint32_t *idmap_at (IdMap *m, uint64_t id, int *isnew);

/* As idmap_at, but NULL when it is not there. */
const uint32_t *idmap_find (const IdMap *m, uint64_t id);

void idmap_free (IdMap *m);

#endif
