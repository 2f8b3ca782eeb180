/* SPDX-License-Identifier: MIT */
/*
** What the steps of the reader share. See readerstate.h.
*/
#include "readerstate.h"

#include <stdlib.h>
#include <string.h>

int readerstate_open (ReaderState *s, ReaderClient *client) {
  Reading *r;
  memset(s, 0, sizeof(*s));
  s->client = client;
  s->period = 1;
  s->stat[0] = s->stat[1] = s->stat[2] = -1;
  s->r = r = calloc(1, sizeof(*r));
  if (r == NULL)
    return 0;
  r->kinds = calloc(READER_MAXKINDS, sizeof(*r->kinds));
  r->nkinds = READER_FIRSTKIND;
  if (r->kinds == NULL || !strtab_init(&r->text, READER_MAXNAMES) ||
      !tree_init(&r->tree))
    return 0;
  s->unknown = strtab_put(&r->text, "[unknown]", 9);
  return s->unknown != 0;
}

void readerstate_close (ReaderState *s) {
  free(s->runs);
  fifo_free(&s->open);
  idmap_free(&s->kinds);
  idmap_free(&s->types);
  idmap_free(&s->classes);
  idmap_free(&s->byname);
  idmap_free(&s->paths);
  aliases_free(&s->aliases);
  readerfollow_free(&s->follow);
}

const char *readerstate_failure (const ReaderState *s) {
  if (s->failed || s->r->text.failed)
    return "not enough memory";
  return s->client->stop;
}

uint32_t readerstate_kind (ReaderState *s, uint64_t type, uint64_t class) {
  Reading *r = s->r;
  uint64_t key = class != 0 ? (uint64_t)1 << 63 | class << 8 | type : type + 1;
  uint32_t kind = idmap_get(&s->kinds, key);
  if (kind != IDMAP_NONE)
    return kind;
  if (r->nkinds == READER_MAXKINDS) {
    if (class != 0) {
      r->left[LEFT_KINDS]++;
      return readerstate_kind(s, type, 0);
    }
    r->left[LEFT_TYPES]++;
    return READER_UNKNOWN;
  }
  if (!idmap_set(&s->kinds, key, r->nkinds)) {
    s->failed = 1;
    return READER_UNKNOWN;
  }
  r->kinds[r->nkinds].type = type;
  r->kinds[r->nkinds].class = (uint32_t)class;
  return r->nkinds++;
}
