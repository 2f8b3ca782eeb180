/* SPDX-License-Identifier: MIT */
/*
** Totals per site. The invariants are in ledger.h.
*/
#include "ledger.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

size_t ledger_site (Ledger *l, uint32_t node, uint32_t kind) {
  int isnew = 0;
  uint64_t key = ((uint64_t)node + 1) << 16 | kind;  /* never 0 */
  const uint32_t *known = idmap_find(&l->bykey, key);
  uint32_t *index;
  if (known != NULL)
    return *known;
  if (l->nsites >= LEDGER_MAXSITES && node != 0)
    return ledger_site(l, 0, kind);
  if (!list_grow(&l->sites, l->nsites, &l->sitesize, sizeof(*l->sites)))
    return LEDGER_NONE;
  index = idmap_at(&l->bykey, key, &isnew);
  if (index == NULL)
    return LEDGER_NONE;
  memset(&l->sites[l->nsites], 0, sizeof(*l->sites));
  l->sites[l->nsites].node = node;
  l->sites[l->nsites].kind = kind;
  return *index = (uint32_t)l->nsites++;
}

void ledger_free (Ledger *l) {
  free(l->sites);
  idmap_free(&l->bykey);
  memset(l, 0, sizeof(*l));
}
