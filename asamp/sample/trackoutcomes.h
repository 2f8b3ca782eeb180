/* SPDX-License-Identifier: MIT */
/*
** Determines the results of a collection and passes them to the tracker's client: the survival of
** samples that had no outcome (pending.h), the deaths of earlier survivors (followed.h), and the
** record of the collection.
**
**   A5  while the tracker is off and no safepoints are requested, few collections are reported:
**       those that decide the survival of a sample or find a survivor of an earlier collection
**       dead, one that follows a reported collection in the same pause, and the last one of a
**       session.
*/
#ifndef asamp_trackoutcomes_h
#define asamp_trackoutcomes_h

#include "trackerstate.h"

/* Callback of luaN_Sampler: decides in a collection which samples survive, when marking is over and
   nothing is freed yet. */
void trackoutcomes_decide (void *ud, lua_State *L, int major);

/*
** Reports the collection t->collection. 'over' is 1 if the pause ends with it. It is 0 if the
** pause has a minor and a major collection, and the minor one ends now.
*/
void trackoutcomes_report (Tracker *t, lua_State *L, int over);

/* Starts the time of the program until the next collection. To be called when the work for a
   reported collection ends. */
void trackoutcomes_resume (Tracker *t);

/* Leaves the collections so far out of all records: the next record counts only collections after
   this call. */
void trackoutcomes_skip (Tracker *t, const luaN_Memory *m);

#endif
