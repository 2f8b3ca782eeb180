/* SPDX-License-Identifier: MIT */
/*
** Hash map from ids (64-bit, never 0) to numbers (below IDMAP_NONE). Entries are never removed.
** Returns no pointers to entries, because they move when the map grows. Depends only on memory.
*/
#ifndef asamp_idmap_h
#define asamp_idmap_h

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE	UINT32_MAX	/* no entry */

/* A map. All zero: empty. */
typedef struct IdMap {
  struct IdEntry {
    uint64_t id;     /* 0: a free slot */
    uint32_t value;
  } *entries;
  size_t n;          /* entries in use; at most three quarters of 'size' */
  size_t size;       /* slots: 0 or a power of 2 */
  /* NULL: spare_calloc and free. Else zeroes new memory; size 0 frees; 'ud' is NULL */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
} IdMap;

/* Returns the value of 'id', or IDMAP_NONE. */
uint32_t idmap_get (const IdMap *m, uint64_t id);

/*
** Sets the value of 'id', present or not. Returns 0 and changes nothing if there is not enough
** memory.
*/
int idmap_set (IdMap *m, uint64_t id, uint32_t value);

void idmap_free (IdMap *m);

#endif
