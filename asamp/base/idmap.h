/* SPDX-License-Identifier: MIT */
/*
** Hash map from ids (64-bit, never 0) to numbers (below IDMAP_NONE). Single entries cannot be
** removed. Entries move when the map grows, so no function returns a pointer to an entry.
*/
#ifndef asamp_idmap_h
#define asamp_idmap_h

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE	UINT32_MAX	/* result of idmap_get for an id that has no entry */

/* A map. All zero, except 'memory': empty. */
typedef struct IdMap {
  struct IdEntry {
    uint64_t id;     /* key of the entry; 0: the slot is free */
    uint32_t value;
  } *entries;
  size_t n;          /* entries in use; at most three quarters of 'size' */
  size_t size;       /* number of slots: 0 or a power of 2 */
  /* Allocator of the entries, like lua_Alloc, but a new block must be zeroed. Called with 'ud'
     NULL. If 'memory' is NULL, spare_calloc and free are used. */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
} IdMap;

/* Returns the value of 'id', or IDMAP_NONE. */
uint32_t idmap_get (const IdMap *m, uint64_t id);

/*
** Sets the value of 'id', and adds 'id' if it is new. Returns 0 and changes nothing if there is not
** enough memory.
*/
int idmap_set (IdMap *m, uint64_t id, uint32_t value);

/* Frees the entries and sets *m to zero, 'memory' included. */
void idmap_free (IdMap *m);

#endif
