/* SPDX-License-Identifier: MIT */
/* Data of a profile (readprofile.h). */
#include "readprofile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void readprofile_identify (Bytes *to, char kind, uint64_t id, uint64_t from, uint64_t till) {
  bytes_decimal(to, kind, id);
  bytes_decimal(to, ':', from);
  bytes_decimal(to, ':', till);
}

void readprofile_source (const ReadProfile *r, Bytes *to) {
  Bytes own = {0};
  if (r->sources != 0)
    bytes_add(&own, r->text.text + r->sources, strlen(r->text.text + r->sources));
  else if (r->recorder != 0)
    readprofile_identify(&own, 'r', r->recorder, r->clock, r->recorded);
  else if (r->merged == 0 && r->pid != 0 && r->started >= 1000000 && r->clock != 0)
    readprofile_identify(&own, 'p', r->pid, r->started / 1000000, r->clock);
  to->failed |= own.failed;
  if (own.n > 0 && to->n + own.n < READER_MAXSOURCES) {
    if (to->n > 0)
      bytes_char(to, ' ');
    bytes_add(to, own.data, own.n);
  }
  bytes_free(&own);
}

const char *readprofile_kindname (const ReadProfile *r, uint32_t kind, char buffer[40]) {
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

size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind, char label[READER_LABEL]) {
  char buffer[40];
  const char *class = r->text.text + r->kinds[kind].class;
  if (kind < READER_FIRSTKIND)
    return (size_t)sprintf(label, "%s", readprofile_kindname(r, kind, buffer));
  return (size_t)sprintf(label, "[%s%s%s]", readprofile_kindname(r, kind, buffer),
                         *class != '\0' ? " " : "", class);
}
