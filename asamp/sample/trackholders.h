/* SPDX-License-Identifier: MIT */
/*
** Decides when the holders of a tracker's followed samples (the references that keep the sampled
** objects alive, holders.h) are searched, and reports them to the client. If the heap is large, a
** child process does the search (holderssearch.h).
**
** A search at the end of the session alone would miss objects that a function held which has
** returned by then. So searches are also made when the heap has grown:
**
**   TH1  a search is made after a major collection if there are twice as many followed samples as
**        at the last search, and at least TRACKHOLDERS_FIRST. The heap must be smaller than
**        HOLDERSSEARCH_HEAP. After the first search, the expected duration must also be at most one
**        part in TRACKHOLDERS_SHARE of the time since the session's start. So there are few
**        searches, and none takes more than about 8 ms.
*/
#ifndef asamp_trackholders_h
#define asamp_trackholders_h

#include "trackerstate.h"

#define TRACKHOLDERS_FIRST	16
#define TRACKHOLDERS_SHARE	25
#define TRACKHOLDERS_NS		2  /* Expected ns of a search for holders (holders.h), for each byte
			   of the heap in use. */

/*
** Makes the tracker report the holders of the followed samples every 'ns' nanoseconds; 0: never.
** The search is made after the first major collection that ends after that time, or after any
** collection once twice the time has passed. The result of a child process is reported after a
** later collection.
*/
static inline void trackholders_every (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/* From now on makes the tracker search for the objects that keep samples alive whenever the number
   of live samples that have survived a collection has doubled (TH1). */
static inline void trackholders_growing (Tracker *t) {
  t->holdersgrown = TRACKHOLDERS_FIRST;
  t->holderssince = clock_now();
}

/* Called after a collection: searches for the objects that keep samples alive (holders.h) if a
   search is due. */
void trackholders_often (Tracker *t, lua_State *L);

/* If the child process has finished its search (t->search), reports the holders of the samples that
   are still alive. The positions of these samples in the list may have changed since the search
   started; FollowedSample.queried has the position at that time. */
void trackholders_answered (Tracker *t);

/* Searches now for the holders of all live samples (Tracker.followed) and reports them. Returns the
   number of these samples; 0 if there are none, the client takes no holders, or the search failed.
   Call it only where luaN_walk may be called. */
size_t trackholders_now (Tracker *t, lua_State *L);

#endif
