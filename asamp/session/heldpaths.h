/* SPDX-License-Identifier: MIT */
/*
** Numbers the paths of references that keep sampled objects alive (holders.h), for one profile. A
** path is emitted only once, though the search is repeated.
**
**   HP1  equal paths have equal numbers 1, 2, ... in the order of emission;
**   HP2  at most READER_MAXPATHS paths; a further path is replaced by its parent and counted in
**        'left'.
*/
#ifndef asamp_heldpaths_h
#define asamp_heldpaths_h

#include "holders.h"
#include "idmap.h"
#include "profile.h"

/* The paths of references that a state has emitted to its profile. All zero: none. */
typedef struct HeldPaths {
  IdMap known;		/* Maps a hash of a path to the path's number. The hash is of the number of
                           the path without its last reference, and of this reference's text. */
  uint32_t n;	/* Number of emitted paths. */
  uint64_t left;	/* Number of references left out of paths because there were READER_MAXPATHS
                           paths, in this profile or in one search (holders.c). */
  uint64_t cut;		/* Number of references left out because their path had READER_MAXSTEPS
                           already. */
} HeldPaths;

/* Emits the paths of *h that were not emitted yet, and changes the path numbers in h->ids to those
   in the profile. Returns 0, with h->ids unchanged, if out of memory. */
int heldpaths_emit (HeldPaths *p, ProfileState *profile, Holders *h);
void heldpaths_free (HeldPaths *p);

#endif
