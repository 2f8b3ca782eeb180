/* SPDX-License-Identifier: MIT */
/* Records allocation sites of samples (births.h). */
#include "births.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

void births_function (BirthFunctions *b, uint64_t id, const char *name, int line,
                      const char *source) {
  size_t number = (size_t)(id / 8), n = strnlen(name, BIRTHS_TEXT);
  size_t m = strnlen(source, BIRTHS_TEXT);
  BirthFunction *f;
  if ((id & 1) != 0) return;
  while (b->n <= number) {
    if (!list_grow(&b->functions, b->n, &b->size, sizeof(*b->functions))) return;
    memset(&b->functions[b->n++], 0, sizeof(*b->functions));
  }
  f = &b->functions[number];
  free(f->name);
  f->line = line;
  f->source = NULL;
  if ((f->name = calloc(n + m + 2, 1)) == NULL) return;
  f->source = f->name + n + 1;
  memcpy(f->name, name, n);
  memcpy(f->source, source, m);
}

const BirthFunction *births_named (const BirthFunctions *b, uint32_t function) {
  return function < b->n && b->functions[function].name != NULL ? &b->functions[function]
                                                                : NULL;
}

void births_free (BirthFunctions *b) {
  size_t i;
  for (i = 0; i < b->n; i++) free(b->functions[i].name);
  free(b->functions);
  births_forget(b);
}

void births_forget (BirthFunctions *b) {
  memset(b, 0, sizeof(*b));
}
