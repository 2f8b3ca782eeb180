/* SPDX-License-Identifier: MIT */
/* Finds watched blocks by address (blocks.h). */
#include "blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The address of 'tomb' marks deleted slots; no block has this address. */
static const char tomb;

/* Returns the index of the slot at which the search for a block starts (Fibonacci hashing). */
static size_t blocks_slotof (const Blocks *b, const void *block) {
  uint64_t h = ((uint64_t)(uintptr_t)block >> 3) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(h >> 32) & (b->size - 1);
}

int blocks_room (Blocks *b) {
  Blocks new = {NULL, (b->size == 0) ? 64 : b->size, 0, 0};
  size_t i;
  if (2 * (b->n + b->ntombs + 1) <= b->size) return 1;
  while (4 * (b->n + 1) > new.size) new.size *= 2;
  new.entries = calloc(new.size, sizeof(*new.entries));
  if (new.entries == NULL) return 0;
  for (i = 0; i < b->size; i++) {
    const struct BlockEntry *e = &b->entries[i];
    if (e->block != NULL && e->block != &tomb)
      blocks_put(&new, e->block, e->number);
  }
  free(b->entries);
  *b = new;
  return 1;
}

/* Returns the entry of a block. If the table lacks the block, returns NULL and sets *room to the
   slot for its entry. */
static struct BlockEntry *blocks_find (const Blocks *b, const void *block,
                                       struct BlockEntry **room) {
  size_t i;
  *room = NULL;
  for (i = blocks_slotof(b, block); b->entries[i].block != NULL;
       i = (i + 1) & (b->size - 1)) {
    if (b->entries[i].block == block) return &b->entries[i];
    if (b->entries[i].block == &tomb && *room == NULL) *room = &b->entries[i];
  }
  if (*room == NULL) *room = &b->entries[i];
  return NULL;
}

size_t blocks_put (Blocks *b, const void *block, size_t number) {
  struct BlockEntry *room, *e = blocks_find(b, block, &room);
  size_t before = BLOCKS_NONE;
  if (e != NULL) before = e->number;
  else {
    e = room;
    if (e->block == &tomb) b->ntombs--;
    e->block = block;
    b->n++;
  }
  e->number = number;
  return before;
}

int blocks_take (Blocks *b, const void *block, size_t *number) {
  struct BlockEntry *room, *e = (b->n > 0) ? blocks_find(b, block, &room) : NULL;
  if (e == NULL) return 0;
  *number = e->number;
  e->block = &tomb;
  b->ntombs++;
  b->n--;
  return 1;
}

void blocks_clear (Blocks *b) {
  if (b->n + b->ntombs > 0)
    memset(b->entries, 0, b->size * sizeof(*b->entries));
  b->n = b->ntombs = 0;
}

void blocks_free (Blocks *b) {
  free(b->entries);
  memset(b, 0, sizeof(*b));
}
