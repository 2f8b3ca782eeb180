/* SPDX-License-Identifier: MIT */
/* Data of a profile (readprofile.h). */
#include "readprofile.h"

#include <stdio.h>
#include <stdlib.h>

void readprofile_free (ReadProfile *r) {
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

const char *readprofile_kindname (const ReadProfile *r, uint32_t kind,
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

size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind,
                          char label[READER_LABEL]) {
  char buffer[40];
  const char *class = r->text.text + r->kinds[kind].class;
  if (kind < READER_FIRSTKIND)
    return (size_t)sprintf(label, "%s", readprofile_kindname(r, kind, buffer));
  return (size_t)sprintf(label, "[%s%s%s]", readprofile_kindname(r, kind, buffer),
                         *class != '\0' ? " " : "", class);
}
