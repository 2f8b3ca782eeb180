/* SPDX-License-Identifier: MIT */
/* Lists of blocks, and the search for the block of an address (heap.h). */

#include "lstate.h"

#include "heap.h"


void luaN_openblocks (luaN_Blocks *h) {
  int i;
  h->empty.next = h->empty.prev = &h->empty;
  for (i = 0; i < LUAN_CLASSES; i++)
    h->holed[i].next = h->holed[i].prev = &h->holed[i];
  h->used.next = h->used.prev = &h->used;
  h->unchecked = LUAN_BLOCK;
}


void luaN_unlist (luaN_Blocks *h, luaN_Block *b) {
  if (b->where == LUAN_UNLISTED) return;
  if (b->where == LUAN_EMPTY) {
    h->vacant -= luaN_bytesof(b);
    b->chunk->nempty--;
  }
  b->link.prev->next = b->link.next;
  b->link.next->prev = b->link.prev;
  b->where = LUAN_UNLISTED;
}


/* Adds b to the list that 'where' names (luaN_Where): as the first block, so that the blocks used
   most recently are used again first; a small block as the last one, if the list is 'empty' or
   'holed'. */
void luaN_enlist (luaN_Blocks *h, luaN_Block *b, luaN_Where where) {
  luaN_Link *head = (where == LUAN_EMPTY) ? &h->empty
                  : (where == LUAN_HOLED) ? &h->holed[b->class] : &h->used;
  lua_assert(b->where == LUAN_UNLISTED);
  if (b->chunk->small && where != LUAN_USED) head = head->prev;
  b->link.prev = head;
  b->link.next = head->next;
  head->next->prev = &b->link;
  head->next = &b->link;
  b->where = (lu_byte)where;
  if (where == LUAN_EMPTY) {
    h->vacant += luaN_bytesof(b);
    b->chunk->nempty++;
  }
}


/* {== small blocks (H7) ================================================= */

#define smallat(h,i)	((luaN_Block *)(h)->small.a[i])


/* Returns the index in 'small' of the first block at an address above p, or small.n. */
static size_t smallbehind (const luaN_Blocks *h, const void *p) {
  size_t low = 0, high = h->small.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uintptr_t)h->small.a[middle] <= (uintptr_t)p) low = middle + 1;
    else high = middle;
  }
  return low;
}


luaN_Block *luaN_smallblock (const luaN_Blocks *h, const void *p) {
  size_t i = smallbehind(h, p);
  if (i > 0) {
    luaN_Block *b = smallat(h, i - 1);
    if ((uintptr_t)p - (uintptr_t)b < luaN_bytesof(b)) {
      uintptr_t granules = luaN_granuleof(h->low, b);
      if (granules <= UINT16_MAX)  /* an entry of the cache has 16 bits */
        ((luaN_Blocks *)h)->recent[luaN_recentat(p)] = (uint16_t)granules;
      return b;
    }
  }
  return NULL;
}


static void setspan (luaN_Blocks *h) {
  const luaN_Vec *v = &h->small;
  h->low = h->span = 0;
  if (v->n > 0) {
    const luaN_Block *last = smallat(h, v->n - 1);
    memset(h->recent, 0, sizeof(h->recent));
    h->low = (uintptr_t)v->a[0];
    h->span = (uintptr_t)last + luaN_bytesof(last) - h->low;
  }
}


void luaN_addsmall (luaN_Blocks *h, luaN_Block *b) {
  size_t i = smallbehind(h, b), n = h->small.n++;
  memmove(h->small.a + i + 1, h->small.a + i, (n - i) * sizeof(void *));
  h->small.a[i] = b;
  setspan(h);
}


void luaN_dropsmall (luaN_Blocks *h, const luaN_Block *b) {
  size_t i = smallbehind(h, b), n = --h->small.n;
  lua_assert(h->small.a[i - 1] == b);
  memmove(h->small.a + i - 1, h->small.a + i, (n - (i - 1)) * sizeof(void *));
  setspan(h);
}

/* }===================================================================== */
