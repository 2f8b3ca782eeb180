/* SPDX-License-Identifier: MIT */
/*
** When the holders of a tracker's followed samples are searched (holders.h), and their report to
** the client. For a large heap a child process searches (holderssearch.h).
**
** A search only at the end of the session would miss objects of a function that has returned by
** then: their holders are gone. So a search is also made when the heap has grown:
**
**   TH1  after a major collection with twice as many followed samples as at the last search, and
**        at least TRACKHOLDERS_FIRST, if the heap is smaller than HOLDERSSEARCH_HEAP and, after the
**        first search, the search is expected to take at most one part in TRACKHOLDERS_SHARE of
**        the time since the session's start. So there are few searches, and none takes more than
**        some 8 ms.
*/
#ifndef asamp_trackholders_h
#define asamp_trackholders_h

#include "trackerstate.h"

#define TRACKHOLDERS_FIRST	16
#define TRACKHOLDERS_SHARE	25
#define TRACKHOLDERS_NS		2  /* Expected ns of a search for each byte in use. */

/*
** Reports the holders of the followed samples every 'ns' nanoseconds (0: never): when that time
** has passed, after the next major collection has ended; when twice that time has passed, after
** any collection. If a child process searches, its result is reported after a later collection.
*/
static inline void trackholders_every (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/* Searches for holders as the heap grows (TH1), from now on. */
static inline void trackholders_growing (Tracker *t) {
  t->holdersgrown = TRACKHOLDERS_FIRST;
  t->holderssince = clock_now();
}

/* Called after a collection: searches for holders if a search is due. */
void trackholders_often (Tracker *t, lua_State *L);

/*
** Reports the result of the running search (t->search), if it is ready, for the samples still
** followed. Their positions in the list may have changed; 'queried' of FollowedSample has those in
** the query.
*/
void trackholders_answered (Tracker *t);

/*
** Reports the holders of the followed samples now. To be called where luaN_walk may be called.
** Returns the number of these samples; 0: there are none, the client takes no holders, or the
** search failed.
*/
size_t trackholders_now (Tracker *t, lua_State *L);

#endif
