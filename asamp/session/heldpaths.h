/* SPDX-License-Identifier: MIT */
/*
** Numbers the paths of references that keep samples alive (holders.h), for one profile. A path is
** emitted only once, though the search is repeated.
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

/* The emitted paths. All zero: none. */
typedef struct HeldPaths {
  IdMap known;		/* Maps the hash of a path's last step and of its parent's number to the
                           number of the path. */
  uint32_t n;	/* Number of emitted paths. */
  uint64_t left;	/* Number of steps left out because of READER_MAXPATHS, in heldpaths.c
                           (HP2) and in holders.c (HO2). */
  uint64_t cut;		/* Number of steps left out because of READER_MAXSTEPS. */
} HeldPaths;

/* Emits the new paths of *h, and replaces the numbers in h->ids by those of the profile.
   Returns 0 and leaves h->ids unchanged if there is not enough memory. */
int heldpaths_emit (HeldPaths *p, ProfileState *profile, Holders *h);
void heldpaths_free (HeldPaths *p);

#endif
