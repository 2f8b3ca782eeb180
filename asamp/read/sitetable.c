/* SPDX-License-Identifier: MIT */
/* Table of totals per site (sitetable.h). */
#include "sitetable.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

size_t sitetable_at (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count) {
  return sitetable_tagged(l, node, kind, 0, count);
}

size_t sitetable_tagged (SiteTable *l, uint32_t node, uint32_t kind, uint32_t tag, uint64_t count) {
  /* 17 bits for the tag, 22 for node + 1, 24 for the kind; never 0, which an IdMap cannot store */
  uint64_t key = (uint64_t)tag << 46 | ((uint64_t)node + 1) << 24 | kind;
  uint32_t known = idmap_get(&l->bykey, key);
  if (known != IDMAP_NONE)
    return known;
  if (l->nsites >= SITETABLE_MAXSITES && (node != 0 || tag != 0)) {
    l->left += count;
    return sitetable_at(l, 0, kind, 0);
  }
  if (!list_grow(&l->sites, l->nsites, &l->sitesize, sizeof(*l->sites)))
    return SITETABLE_NONE;
  if (!idmap_set(&l->bykey, key, (uint32_t)l->nsites))
    return SITETABLE_NONE;
  memset(&l->sites[l->nsites], 0, sizeof(*l->sites));
  l->sites[l->nsites].node = node;
  l->sites[l->nsites].kind = kind;
  l->sites[l->nsites].tag = tag;
  return l->nsites++;
}

int sitetable_add (SiteTable *l, uint32_t node, uint32_t kind, uint64_t count, uint64_t bytes) {
  size_t at = sitetable_at(l, node, kind, count);
  if (at == SITETABLE_NONE)
    return 0;
  l->sites[at].samples += count;
  l->sites[at].bytes += bytes;
  return 1;
}

void sitetable_free (SiteTable *l) {
  free(l->sites);
  idmap_free(&l->bykey);
  memset(l, 0, sizeof(*l));
}
