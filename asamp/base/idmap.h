/* SPDX-License-Identifier: MIT */
/* Hash map from 64-bit ids, never 0, to numbers below IDMAP_NONE. Entries cannot be removed,
   and move when the map grows. */
#ifndef asamp_idmap_h
#define asamp_idmap_h

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE	UINT32_MAX	/* idmap_get: no entry */

/* A map. All zero, except 'memory': empty. */
typedef struct IdMap {
  struct IdEntry {
    uint64_t id;     /* 0: free slot */
    uint32_t value;
  } *entries;
  size_t n;          /* number of ids; at most three quarters of 'size' */
  size_t size;       /* number of slots: 0 or a power of 2 */
  /* Allocator like lua_Alloc with zeroed new blocks; NULL: spare_calloc and free. */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
} IdMap;

/* Returns the value of 'id', or IDMAP_NONE. */
uint32_t idmap_get (const IdMap *m, uint64_t id);

/* Sets the value of 'id'. Returns 0 and changes nothing if out of memory. */
int idmap_set (IdMap *m, uint64_t id, uint32_t value);

/* Frees the entries and zeroes *m, 'memory' included. */
void idmap_free (IdMap *m);

#endif
