/* SPDX-License-Identifier: MIT */
/*
** Orphans: samples of native memory whose state was closed while their block was not
** freed. What Lua's own heap had dies with the state, but a block from malloc does not: it
** may be what a C module leaks, or what another state, or the host, frees later. So whoever
** shares a profile (SS4 of sampler.h) has the state's samples watched on, and their deaths
** told, until the profile ends. Pictures of resident memory have them by line (resident.h).
**
** Everything here is called with the lock of the samplers. Invariants:
**   OP1  the orphans are of one profile, the one that was last told of some;
**   OP2  those of a state lie one behind the other, in the order in which it followed them,
**        which is that of the profile's list (P7 of profile.h): a state's come between
**        its last event and its end there, and deaths behind that end;
**   OP3  each has a slot (mallocs.h), so that they are MALLOC_SLOTS at most; who leaves
**        the list gives it back.
*/
#ifndef asamp_orphans_h
#define asamp_orphans_h

#include "profile.h"
#include "tracker.h"

/*
** The state is about to end in its profile: what it follows of native memory becomes
** orphans, and is followed there no more. Returns how many; 0: also without memory.
*/
uint64_t orphans_adopt (const ProfileState *s, Tracker *t);

/* Is it time to tell 'p' who has died? Whoever has not the lock may ask, too. */
int orphans_aredue (const Profile *p, uint64_t now);

/* Tells 'p' who has died. */
void orphans_tell (Profile *p);

/* At exit: the next deaths, to be told by profile_exit; *begun is 0 at first. 0: there are no
   more. */
int orphans_last (Profile *p, int *begun, ProfileLast *last);

/* Nobody asks for those of 'p' any more. */
void orphans_forget (const Profile *p);

/* In the child of a fork. */
void orphans_forked (void);

#endif
