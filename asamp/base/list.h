/* SPDX-License-Identifier: MIT */
/* Arrays that grow by doubling. The caller keeps pointer, number of elements and capacity.
   These functions may move the array: keep indexes, not addresses. */
#ifndef asamp_list_h
#define asamp_list_h

#include "bounds.h"
#include "spare.h"

#include <stdlib.h>
#include <string.h>

/* Like realloc to 'size' bytes, but always moves the block. Copies its 'used' bytes, and overwrites
   them in the old block, so that the use of stale pointers is detected. */
static inline void *list_move (void *block, size_t used, size_t size) {
  void *to = spare_malloc(size);
  if (to == NULL || block == NULL)
    return to;
  memcpy(to, block, used);
  memset(block, 0xdd, used);
  free(block);
  return to;
}

/* Reserves space for n elements in total. 'list' is the address of the pointer, *size the capacity,
   'element' the bytes of an element. Returns 0 and changes nothing if out of memory. */
static inline int list_room (void *list, size_t n, size_t *size, size_t element) {
  size_t more = *size;
  void *block;
  if (n <= *size && (BOUND_MOVES == 0 || *size * element > BOUND_MOVES))
    return 1;
  if (n > *size) {
    more = *size == 0 ? BOUND_FIRST(256) : *size * 2;
    more = more < n ? n : more;
  }
  memcpy(&block, list, sizeof(block));
  block = BOUND_MOVES > 0 ? list_move(block, *size * element, more * element)
                           : spare_realloc(block, more * element);
  if (block == NULL)
    return 0;
  memcpy(list, &block, sizeof(block));
  *size = more;
  return 1;
}

/* Like list_room, for n + 1 elements. */
static inline int list_grow (void *list, size_t n, size_t *size,
                             size_t element) {
  return list_room(list, n + 1, size, element);
}

/* Like list_room, for an array that grows towards lower addresses, so its elements are at the end
   of the block. If a larger block is needed, copies only the last 'kept' elements, to the end of
   the new block. */
static inline int list_roomahead (void *list, size_t n, size_t kept, size_t *size,
                                  size_t element) {
  size_t more = *size * 2 > n ? *size * 2 : n;
  unsigned char *from, *to;
  if (n <= *size)
    return 1;
  memcpy(&from, list, sizeof(from));
  to = spare_malloc(more * element);
  if (to == NULL)
    return 0;
  if (kept > 0)
    memcpy(to + (more - kept) * element, from + (*size - kept) * element, kept * element);
  free(from);
  memcpy(list, &to, sizeof(to));
  *size = more;
  return 1;
}

#endif
