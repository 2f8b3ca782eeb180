/* SPDX-License-Identifier: MIT */
/*
** Samples of native memory (mallocs.h) for a tracker. The owner of such a sample is the slot by
** which the malloc library reports that the block was freed (mallocs_isowner).
**
**   A7  a sample of native memory is taken inside malloc, which may have been called by the tracker
**       itself, or by a signal handler that interrupted it. Therefore the sample is lost if the
**       tracker is 'busy'.
*/
#ifndef asamp_tracknative_h
#define asamp_tracknative_h

#include "mallocs.h"
#include "trackerstate.h"

#define TRACKNATIVE_MINREAPED	4096	/* A number of samples. While the survival of fewer samples
					   than this is undecided, the slots of freed native blocks
					   are not released between collections. */

/* While this many samples are pending (their survival is not decided yet), further samples of
   native memory are lost. Only a collection decides their survival, so the list of a program that
   calls C functions for days, and allocates no Lua object, would grow without bound. This many
   samples take 64 MB. */
#define TRACKNATIVE_PENDING	(1u << 20)

/*
** Callback of mallocs_start: takes a sample inside malloc. L is the main thread of the running
** state. Returns MALLOCS_TAKEN, MALLOCS_LOST or MALLOCS_NOTMINE.
*/
int tracknative_take (lua_State *L, const MallocSample *in);

/* If mallocs_drain permits it, takes from the queue the samples that were taken on threads which
   did not run the state of any tracker. */
void tracknative_drain (Tracker *t);

/* tracknative_forget stops watching the blocks of all native samples of the tracker.
   tracknative_stop ends the sampling of native memory, and then does the same. */
void tracknative_forget (Tracker *t);
void tracknative_stop (Tracker *t);

#endif
