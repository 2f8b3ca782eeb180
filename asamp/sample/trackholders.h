/* SPDX-License-Identifier: MIT */
/*
** Decides when to search for the holders of live samples (the references that keep them alive,
** holders.h), and reports them. In a large heap, a child process searches (holderssearch.h).
**
** Objects may die before the search at the end of the session. So there are also earlier searches:
**
**   TH1  after a major collection, if there are twice as many live samples as at the last
**        search, and at least TRACKHOLDERS_FIRST. The heap must be smaller than
**        HOLDERSSEARCH_HEAP. Except for the first search, the expected duration must be at most
**        1 / TRACKHOLDERS_SHARE of the session's duration so far.
*/
#ifndef asamp_trackholders_h
#define asamp_trackholders_h

#include "trackerstate.h"

#define TRACKHOLDERS_FIRST	16
#define TRACKHOLDERS_SHARE	25
#define TRACKHOLDERS_NS		2  /* Expected duration of a search, ns for each byte of the heap in
                                      use; a high estimate. */

/* Sets how often the references that keep samples alive are searched for: a search is due every
   'ns' nanoseconds; 0: never. The next reported major collection starts a due search. If none runs
   within 'ns' more nanoseconds, the next reported collection of any kind starts it. If a child
   process searches, a later collection reports the result. */
static inline void trackholders_every (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/* Switches on the searches TH1: later major collections search for the references that keep samples
   alive when there are TRACKHOLDERS_FIRST live samples, then each time their number has doubled. */
static inline void trackholders_growing (Tracker *t) {
  t->holdersgrown = TRACKHOLDERS_FIRST;
  t->holderssince = clock_now();
}

/* Searches for the references that keep samples alive if a search is due. Call it after a
   collection. */
void trackholders_often (Tracker *t, lua_State *L);

/* If the child process has finished its search, reports the references that it found, for those
   samples that are still alive. */
void trackholders_answered (Tracker *t);

/* Searches now for the references that keep samples alive, and reports them. Returns the number
   of live samples, or 0 if the search fails. Call it only where luaN_walk may be called. */
size_t trackholders_now (Tracker *t, lua_State *L);

#endif
