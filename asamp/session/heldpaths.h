/* SPDX-License-Identifier: MIT */
/*
** The paths of holders that a session's profile knows, by their steps: a path that was
** told is not told again, however often who holds what is asked, so that a long session's
** file and whoever reads it grow with the program, not with time. Invariants:
**   HP1  equal paths have equal numbers, 1, 2, ..., in the order in which they were told;
**   HP2  at most READER_MAXPATHS: what is beyond is the path above it, and 'left' counts it.
*/
#ifndef asamp_heldpaths_h
#define asamp_heldpaths_h

#include "holders.h"
#include "idmap.h"
#include "profile.h"

/* All zero: none. */
typedef struct HeldPaths {
  IdMap known;		/* parent and step, mixed -> number */
  uint32_t n;
  uint64_t left;	/* times that a path found no room */
  uint64_t cut;		/* ... or had too many steps */
} HeldPaths;

/* Tells the profile the paths that are new, and makes h->ids their numbers in it. 0: no
   memory. */
int heldpaths_tell (HeldPaths *p, ProfileState *profile, Holders *h);
void heldpaths_free (HeldPaths *p);

#endif
