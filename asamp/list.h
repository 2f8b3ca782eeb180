/* SPDX-License-Identifier: MIT */
/*
** Arrays that grow by doubling: one function for whoever keeps the pointer, the
** number of elements and the size.
*/
#ifndef asamp_list_h
#define asamp_list_h

#include <stdlib.h>
#include <string.h>

/*
** Room for one more element behind the n that are there. 'list' is the address
** of the pointer to them (NULL at first), '*size' how many have room. 0 without
** memory: nothing has changed then.
*/
static inline int list_grow (void *list, size_t n, size_t *size,
                             size_t element) {
  size_t more = *size == 0 ? 256 : *size * 2;
  void *block;
  if (n < *size)
    return 1;
  memcpy(&block, list, sizeof(block));
  block = realloc(block, more * element);
  if (block == NULL)
    return 0;
  memcpy(list, &block, sizeof(block));
  *size = more;
  return 1;
}

#endif
