/* SPDX-License-Identifier: MIT */
/*
** The results of a collection for the client of a tracker: the survival of pending samples, the
** deaths of followed ones, and the record of the collection.
**
**   A5  collections while the tracker is off are not reported, except those that decide survival
**       or find followed samples dead.
*/
#ifndef asamp_trackoutcomes_h
#define asamp_trackoutcomes_h

#include "trackerstate.h"

/* Callback of luaN_Sampler: marking is over and nothing is freed yet. Decides the outcomes. */
void trackoutcomes_decide (void *ud, lua_State *L, int major);

/*
** Reports the collection that decided survival. Its part of the pause ends now or, if 'over', at
** the end of the pause.
*/
void trackoutcomes_report (Tracker *t, lua_State *L, int over);

/* Skips the collections so far (A5): later counts start here. */
void trackoutcomes_skip (Tracker *t, const luaN_Memory *m);

#endif
