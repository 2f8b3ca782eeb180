/* SPDX-License-Identifier: MIT */
/*
** Numbers the paths of holders (holders.h: references that keep a sampled object alive) that are
** already in a session's profile. A path is emitted once, however often holders are searched. So
** the file of a long session, and the memory of its readers, grow with the program and not with
** time.
**
**   HP1  equal paths have equal numbers, 1, 2, ..., in the order of their emission;
**   HP2  there are at most READER_MAXPATHS paths. Each occurrence of a further path is replaced by
**        its parent path and counted in 'left'.
*/
#ifndef asamp_heldpaths_h
#define asamp_heldpaths_h

#include "holders.h"
#include "idmap.h"
#include "profile.h"

/* The paths of references to live samples (holders.h) that a session has emitted. All zero:
   none. */
typedef struct HeldPaths {
  IdMap known;		/* Maps the hash of a path (its last step and the number of the path before
			   that step) to the path's number. */
  uint32_t n;	/* Number of paths emitted so far. */
  uint64_t left;	/* Number of steps left out because there are READER_MAXPATHS paths, in this
			   file (HP2) and in holders.c (HO2 of holders.h). */
  uint64_t cut;		/* Number of steps left out because a path has READER_MAXSTEPS steps. */
} HeldPaths;

/*
** Emits the paths in *h (references that keep samples alive, holders.h) that are new to the
** profile, and replaces the paths in h->ids by their numbers in the profile. If there is not enough
** memory, returns 0 and leaves h->ids unchanged.
*/
int heldpaths_emit (HeldPaths *p, ProfileState *profile, Holders *h);
void heldpaths_free (HeldPaths *p);

#endif
