/* SPDX-License-Identifier: MIT */
/*
** Determines the results of a collection and reports them to the tracker's client: which samples
** survived, which earlier survivors died, and the record of the collection (its pause, counts of
** the collector).
**
**   A5  while the client wants neither samples nor calls at safepoints (where the program can be
**       interrupted), a collection is reported only for one of these reasons: it decides whether a
**       sample survives; it finds a death; it follows a reported collection in the same pause; it
**       is the last one of a session.
*/
#ifndef asamp_trackoutcomes_h
#define asamp_trackoutcomes_h

#include "trackerstate.h"

/* Decides which samples survive a collection ('major' 1: a major or full one). The Lua core calls
   it after marking, before it frees objects. */
void trackoutcomes_decide (void *ud, lua_State *L, int major);

/* Reports t->collection, the record of a collection, to the client. 'over' 1: the collector's pause
   is over; 0: a major collection follows in the same pause. */
void trackoutcomes_report (Tracker *t, lua_State *L, int over);

/* Excludes the CPU time of the collector's last pause from the program's. Call it after a pause
   whose collections have no record. */
void trackoutcomes_leave (Tracker *t, lua_State *L);

/* Records the CPU time at which the program continues after a reported collection. */
void trackoutcomes_resume (Tracker *t);

/* Excludes the collections until now from the next record of a collection. *m: current counters of
   the Lua core. */
void trackoutcomes_skip (Tracker *t, const luaN_Memory *m);

#endif
