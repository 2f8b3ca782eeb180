/* SPDX-License-Identifier: MIT */
/*
** Samples of native memory (mallocs.h) for a tracker. The owner of such a sample is the slot that
** watches the block.
**
**   A7  a sample of native memory is taken inside malloc. If the tracker itself has called malloc,
**       Tracker.busy is above 0, and the sample is lost.
*/
#ifndef asamp_tracknative_h
#define asamp_tracknative_h

#include "mallocs.h"
#include "trackerstate.h"

/* If Tracker.pending (the samples since the last collection) is at least this long, it may be
   searched before the next collection for samples whose native block was freed. */
#define TRACKNATIVE_MINREAPED	4096

/* If Tracker.pending has at least this number of samples, further samples of native memory are
   lost. Only a collection empties this list, so it could grow without bound in a C program that
   rarely runs Lua. */
#define TRACKNATIVE_PENDING	(1u << 20)

/* Takes a sample of native memory, inside malloc. L is the main thread of the running state.
   Returns MALLOCS_TAKEN, MALLOCS_LOST or MALLOCS_NOTMINE. */
int tracknative_take (lua_State *L, const MallocSample *in);

/* Adds to the tracker the queued samples that mallocs_drain passes to it. */
void tracknative_drain (Tracker *t);

/* Stops watching the blocks of the tracker's native samples. */
void tracknative_forget (Tracker *t);
/* Ends the sampling of native memory for this tracker, and stops watching the sampled blocks. */
void tracknative_stop (Tracker *t);

#endif
