/* SPDX-License-Identifier: MIT */
/*
** When the holders of a tracker's followed samples are searched (holders.h), and their report to
** the client. For a large heap a child process searches (holdersask.h).
*/
#ifndef asamp_trackholders_h
#define asamp_trackholders_h

#include "trackerstate.h"

/*
** Reports the holders of the followed samples every 'ns' nanoseconds: after the first major
** collection when that time has passed, or after any collection when twice that time has. If a
** child process searches, a later collection reports. 0: never.
*/
static inline void trackholders_every (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/* Called after a collection: searches for holders if it is due. */
void trackholders_often (Tracker *t, lua_State *L);

/*
** Reports the child's result, if it is there, for the samples still followed. 'asked' in
** FollowedSample is a sample's position in the query; its position in the list may have changed.
*/
void trackholders_answered (Tracker *t);

/*
** Reports the holders of the followed samples now. Must not be called inside a collection.
** Returns the number of these samples; 0: none, or no memory.
*/
size_t trackholders_now (Tracker *t, lua_State *L);

#endif
