/* SPDX-License-Identifier: MIT */
/*
** Samples of native memory (mallocs.h) for a tracker.
**
**   A7  a sample of native memory is taken inside malloc, which the tracker itself may have
**       called, or a signal handler that interrupted the tracker: if the tracker is 'busy' the
**       sample is lost. The owner of a sample of native memory is a slot (mallocs_isowner).
*/
#ifndef asamp_tracknative_h
#define asamp_tracknative_h

#include "mallocs.h"
#include "trackerstate.h"

#define TRACKNATIVE_MINREAPED	4096	/* Pending samples before dead native ones are removed. */

/*
** Callback of mallocs_start: takes a sample inside malloc. L is the main thread of the running
** state. Returns MALLOCS_TAKEN, MALLOCS_LOST or MALLOCS_NOTMINE.
*/
int tracknative_take (lua_State *L, const MallocSample *in);

/* Takes the samples of threads that ran no client's state from the queue, if mallocs_drain permits
   that. */
void tracknative_drain (Tracker *t);

/* Ends the watches of all native samples of the tracker. tracknative_stop does this after it has
   ended the sampling of native memory. */
void tracknative_forget (Tracker *t);
void tracknative_stop (Tracker *t);

#endif
