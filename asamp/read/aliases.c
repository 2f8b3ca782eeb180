/* SPDX-License-Identifier: MIT */
/* Maps a function to the first function with the same name (aliases.h). */
#include "aliases.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

#define MOSTPAGES	(READER_MAXALIASES / ALIASES_PAGE)

int aliases_set (Aliases *a, uint32_t n, uint32_t alias) {
  uint64_t id = (uint64_t)(n / ALIASES_PAGE) + 1;
  uint32_t page = idmap_get(&a->bypage, id);
  if (page == IDMAP_NONE) {
    uint32_t *fresh;
    if (a->n == MOSTPAGES) {
      a->left++;
      return 1;
    }
    page = (uint32_t)a->n;
    if (!list_grow(&a->pages, a->n, &a->size, sizeof(*a->pages)))
      return 0;
    fresh = calloc(ALIASES_PAGE, sizeof(*fresh));
    if (fresh == NULL || !idmap_set(&a->bypage, id, page)) {
      free(fresh);
      return 0;
    }
    a->pages[a->n++] = fresh;
  }
  a->pages[page][n % ALIASES_PAGE] = alias;
  return 1;
}

void aliases_free (Aliases *a) {
  size_t i;
  for (i = 0; i < a->n; i++)
    free(a->pages[i]);
  free(a->pages);
  idmap_free(&a->bypage);
  memset(a, 0, sizeof(*a));
}
