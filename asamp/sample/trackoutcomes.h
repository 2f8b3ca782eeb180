/* SPDX-License-Identifier: MIT */
/*
** The results of a collection for the client of a tracker: the survival of pending samples, the
** deaths of followed ones, and the record of the collection.
**
**   A5  while the tracker is off and no safepoints are requested, a collection is reported only if
**       it decides survival or finds followed samples dead, or follows a reported one in the same
**       pause, or is the last one of a session.
*/
#ifndef asamp_trackoutcomes_h
#define asamp_trackoutcomes_h

#include "trackerstate.h"

/* Callback of luaN_Sampler: marking is over and nothing is freed yet. Decides the outcomes. */
void trackoutcomes_decide (void *ud, lua_State *L, int major);

/*
** Reports the collection t->collection. It ends now or, if 'over', with its pause: a pause may have
** a minor and a major collection.
*/
void trackoutcomes_report (Tracker *t, lua_State *L, int over);

/* Skips the collections so far (A5): the next record counts from here on. */
void trackoutcomes_skip (Tracker *t, const luaN_Memory *m);

#endif
