/* SPDX-License-Identifier: MIT */
/*
** Orphans: samples of native memory whose state was closed before their block was freed. A
** state's own heap ends with the state, but a malloc block does not: a C module may have leaked
** it, or another state or the host may free it later. So for states that share a profile (SS4
** of sampler.h) these samples stay watched, and their deaths are reported until the profile
** ends. Pictures of resident memory list their bytes by source line (resident.h).
**
** All functions, except orphans_aredue and orphans_forked, are called with the lock of the
** samplers held. Invariants:
**
**   OP1  the orphans belong to one profile, the last one that adopted some;
**   OP2  the orphans of a state are consecutive, in the order of the state's followed samples (P7
**        of profile.h): they are adopted between the state's last event and the event of its end,
**        and their deaths are reported after its end;
**   OP3  each orphan has a slot (mallocs.h), so there are at most MALLOC_SLOTS; the slot is
**        released when the orphan leaves the list.
*/
#ifndef asamp_orphans_h
#define asamp_orphans_h

#include "profile.h"
#include "tracker.h"

/*
** Turns the native samples that tracker t of state 's' follows into orphans, before the end of the
** state is reported. Returns their number; 0 also if there is not enough memory.
*/
uint64_t orphans_adopt (const ProfileState *s, Tracker *t);

/*
** Returns 1 if orphans_emit is due for 'p' at the time 'now', ns: 'p' has orphans, any watched
** block was freed since the last check, and that check was long enough ago.
*/
int orphans_aredue (const Profile *p, uint64_t now);

/* Reports the deaths of the orphans of 'p', and removes the dead from the list. */
void orphans_emit (Profile *p);

/*
** At exit: stores the next deaths for profile_exit in *last; *started is 0 before the first
** call. Returns 0 if there are no more.
*/
int orphans_last (Profile *p, int *started, ProfileLast *last);

/* Drops the orphans of 'p' and ends their watches. */
void orphans_forget (const Profile *p);

/* Drops all orphans in the child of a fork. */
void orphans_forked (void);

#endif
