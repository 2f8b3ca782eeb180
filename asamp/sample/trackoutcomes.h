/* SPDX-License-Identifier: MIT */
/*
** Determines the results of a collection and reports them to the tracker's client: which samples
** survived, which earlier survivors died, and the record of the collection.
**
**   A5  while sampling is off and no safepoints are requested, only these collections are
**       reported: those with outcomes or deaths, the second one in a reported pause, and the last
**       one of a session.
*/
#ifndef asamp_trackoutcomes_h
#define asamp_trackoutcomes_h

#include "trackerstate.h"

/* Decides which samples survive. Called by the core when marking is over and nothing is freed
   yet. */
void trackoutcomes_decide (void *ud, lua_State *L, int major);

/* Reports t->collection. 'over' 0: a major collection follows in the same pause. */
void trackoutcomes_report (Tracker *t, lua_State *L, int over);

/* Marks the end of the work for a reported collection. */
void trackoutcomes_resume (Tracker *t);

/* Leaves the collections so far out of the next record. */
void trackoutcomes_skip (Tracker *t, const luaN_Memory *m);

#endif
