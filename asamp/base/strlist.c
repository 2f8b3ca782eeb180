/* SPDX-License-Identifier: MIT */
/* List of strings (strlist.h). */
#include "strlist.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int strlist_init (StrList *l, uint32_t limit) {
  memset(l, 0, sizeof(*l));
  return strtab_init(&l->strings, limit);
}

void strlist_free (StrList *l) {
  strtab_free(&l->strings);
  idmap_free(&l->index);
  free(l->numbers);
}

uint32_t strlist_put (StrList *l, const char *text, size_t n) {
  uint32_t number = strtab_put(&l->strings, text, n);
  uint32_t at = idmap_get(&l->index, (uint64_t)number + 1);
  if (at != IDMAP_NONE && !l->strings.failed)
    return at;
  if (l->strings.failed ||
      !list_grow(&l->numbers, l->n, &l->size, sizeof(*l->numbers)) ||
      !idmap_set(&l->index, (uint64_t)number + 1, l->n)) {
    l->failed = 1;
    return 0;
  }
  l->numbers[l->n] = number;
  return l->n++;
}

const char *strlist_get (const StrList *l, uint32_t index) {
  return l->strings.text + l->numbers[index];
}
