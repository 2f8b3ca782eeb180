/* SPDX-License-Identifier: MIT */
/*
** A hash map from ids (64-bit, never 0) to numbers (below IDMAP_NONE). Entries
** are never removed. Gives out no pointers: what is in it moves when it grows.
** Knows nothing but memory.
*/
#ifndef asamp_idmap_h
#define asamp_idmap_h

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE	UINT32_MAX

/* All zero: empty. */
typedef struct IdMap {
  struct IdEntry {
    uint64_t id;     /* 0: free */
    uint32_t value;
  } *entries;
  size_t n;          /* in use; at most three quarters of 'size' */
  size_t size;       /* 0 or a power of 2 */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);  /* zeroed where it
                        is new, size 0: freed; 'ud' is NULL. Not there: calloc, free */
} IdMap;

/* The value of 'id', or IDMAP_NONE. */
uint32_t idmap_get (const IdMap *m, uint64_t id);

/*
** Gives 'id' the value, whether it was there or not. 0 without memory; the map
** is then as before.
*/
int idmap_set (IdMap *m, uint64_t id, uint32_t value);

void idmap_free (IdMap *m);

#endif
