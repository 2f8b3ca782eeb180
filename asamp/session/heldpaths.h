/* SPDX-License-Identifier: MIT */
/*
** Numbers the paths of references that keep sampled objects alive (holders.h), for one profile. The
** search for references is repeated, but a path is emitted only once.
**
**   HP1  paths have the numbers 1, 2, ... in the order of emission; equal paths have one number;
**   HP2  at most READER_MAXPATHS paths are emitted. A further path is replaced by the path without
**        its last reference, and counted in HeldPaths.left.
*/
#ifndef asamp_heldpaths_h
#define asamp_heldpaths_h

#include "holders.h"
#include "idmap.h"
#include "profile.h"

/* The paths of references that a state has emitted to its profile. All zero: none. */
typedef struct HeldPaths {
  /* Maps the hash of a path to its number. The hash is of two values: the number of the path
     without its last reference, and the text of that reference. */
  IdMap known;
  uint32_t n;	/* number of emitted paths */
  /* Number of references left out because READER_MAXPATHS paths existed already: paths of this
     profile, or paths of one search of the heap (Holders.left). */
  uint64_t left;
  /* Number of references left out because a path had READER_MAXSTEPS or HOLDERS_DEPTH references
     already (Holders.cut). */
  uint64_t cut;
} HeldPaths;

/* Emits the paths of *h that were not emitted yet. In h->ids, replaces the number of each path in
   *h by the path's number in the profile. Returns 0, with h->ids unchanged, if out of memory. */
int heldpaths_emit (HeldPaths *p, ProfileState *profile, Holders *h);
void heldpaths_free (HeldPaths *p);

#endif
