/* SPDX-License-Identifier: MIT */
/*
** Readings. See reading.h.
*/
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>

void reading_free (Reading *r) {
  tree_free(&r->tree);
  strtab_free(&r->text);
  idmap_free(&r->names);
  free(r->kinds);
  free(r->paths);
  free(r->labelsets);
  free(r->labels);
  free(r->states);
  free(r->threads);
  free(r->functions);
  free(r->fn);
  free(r);
}

const char *reading_kindname (const Reading *r, uint32_t kind,
                              char buffer[40]) {
  const ReadKind *k = &r->kinds[kind];
  if (kind == READER_UNKNOWN)
    return "[unknown]";
  if (kind == READER_TIMESAMPLE)
    return "[time sample]";
  if (k->name != 0)
    return r->text.text + k->name;
  sprintf(buffer, "[type %llu]", (unsigned long long)k->type);
  return buffer;
}

size_t reading_kindlabel (const Reading *r, uint32_t kind,
                          char label[READER_LABEL]) {
  char buffer[40];
  const char *class = r->text.text + r->kinds[kind].class;
  if (kind < READER_FIRSTKIND)
    return (size_t)sprintf(label, "%s", reading_kindname(r, kind, buffer));
  return (size_t)sprintf(label, "[%s%s%s]", reading_kindname(r, kind, buffer),
                         *class != '\0' ? " " : "", class);
}
