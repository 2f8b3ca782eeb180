/* SPDX-License-Identifier: MIT */
/*
** Numbers that stand for others. See aliases.h.
*/
#include "aliases.h"

#include <stdlib.h>
#include <string.h>

#define MOSTPAGES	(READER_MAXALIASES / ALIASES_PAGE)

/* Room for that page in the vector; 0 without memory. */
static int room (Aliases *a, size_t page) {
  size_t n = a->npages == 0 ? BOUND_FIRST(256) : a->npages;
  uint32_t **pages;
  if (page < a->npages)
    return 1;
  while (n <= page)
    n *= 2;
  pages = realloc(a->pages, n * sizeof(*pages));
  if (pages == NULL)
    return 0;
  memset(pages + a->npages, 0, (n - a->npages) * sizeof(*pages));
  a->pages = pages;
  a->npages = n;
  return 1;
}

int aliases_set (Aliases *a, uint32_t n, uint32_t alias) {
  size_t page = n / ALIASES_PAGE;
  if (page >= a->npages || a->pages[page] == NULL) {
    if (a->used == MOSTPAGES) {
      a->left++;
      return 1;
    }
    if (!room(a, page))
      return 0;
    a->pages[page] = calloc(ALIASES_PAGE, sizeof(**a->pages));
    if (a->pages[page] == NULL)
      return 0;
    a->used++;
  }
  a->pages[page][n % ALIASES_PAGE] = alias;
  return 1;
}

void aliases_free (Aliases *a) {
  size_t i;
  for (i = 0; i < a->npages; i++)
    free(a->pages[i]);
  free(a->pages);
  memset(a, 0, sizeof(*a));
}
