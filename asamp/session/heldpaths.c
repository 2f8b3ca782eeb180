/* SPDX-License-Identifier: MIT */
/* Numbers the paths of references to sampled objects (heldpaths.h). */
#include "heldpaths.h"
#include "bounds.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

/* Stores in *id the number of the path 'parent' extended by the reference 'step'. Emits the path if
   it is new. After READER_MAXPATHS paths, stores 'parent' instead. Returns 0 if out of memory. */
static int heldpaths_number (HeldPaths *p, ProfileState *profile, uint32_t parent, const char *step,
                             uint32_t *id) {
  uint64_t key = hash_words(hash_bytes(step, strlen(step)), parent);
  key += (key == 0);
  *id = idmap_get(&p->known, key);
  if (*id != IDMAP_NONE) return 1;
  *id = parent;
  if (p->n >= READER_MAXPATHS) {
    p->left++;
    return 1;
  }
  if (!idmap_set(&p->known, key, p->n + 1)) return 0;
  *id = ++p->n;
  profile_holderpath(profile, *id, parent, step);
  return 1;
}

int heldpaths_emit (HeldPaths *p, ProfileState *profile, Holders *h) {
  uint32_t *to = calloc(h->npaths, sizeof(*to)), i;
  size_t k;
  int ok = (to != NULL);
  for (i = 1; i < h->npaths && ok; i++)
    ok = heldpaths_number(p, profile, to[h->paths[i].parent], h->paths[i].step, &to[i]);
  p->left += h->left;
  p->cut += h->cut;
  for (k = 0; k < h->n && ok; k++) h->ids[k] = to[h->ids[k]];
  free(to);
  return ok;
}

void heldpaths_free (HeldPaths *p) {
  idmap_free(&p->known);
  memset(p, 0, sizeof(*p));
}
