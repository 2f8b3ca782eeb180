/* SPDX-License-Identifier: MIT */
/*
** Orphans are samples of native memory whose state was closed before their block was freed. A
** state's own heap ends with the state, but a malloc block does not: a C module may have leaked it,
** or another state or the host may free it later. If states share a profile (SS4 of sampler.h), the
** blocks of these samples stay watched, and their frees are reported as deaths until the profile
** ends. Rows of resident memory list their bytes by source line (resident.h).
**
** The functions are called with the lock of the samplers held, except orphans_aredue and
** orphans_forked. Invariants:
**
**   OP1  all orphans belong to one profile, that of the last successful orphans_adopt;
**   OP2  the orphans of a state are consecutive in the list, in the order of the state's followed
**        samples (P7 of profile.h). They are adopted between the state's last event and the event
**        of its end, and their deaths are reported after its end;
**   OP3  each orphan has a slot (mallocs.h), so there are at most MALLOC_SLOTS orphans. The slot
**        is released when the orphan leaves the list.
*/
#ifndef asamp_orphans_h
#define asamp_orphans_h

#include "profile.h"
#include "tracker.h"

/*
** Turns the live samples of native memory of tracker t into orphans of state 's', whose deaths are
** reported even after the state's end. Call it before the end of the state is reported. Returns the
** number of orphans made; 0 also if there is not enough memory.
*/
uint64_t orphans_adopt (const ProfileState *s, Tracker *t);

/* Returns 1 if orphans_emit is due for 'p' at the time 'now' (ns): 'p' has orphans (samples of
   native memory that outlive their state), a sampled native block was freed since the last check,
   and that check was long enough ago. */
int orphans_aredue (const Profile *p, uint64_t now);

/* Reports the death of each orphan of 'p' (a sample of native memory that outlived its state) whose
   block was freed, and removes it from the list. */
void orphans_emit (Profile *p);

/*
** Called at exit: stores the next deaths of orphans (samples of native memory that outlived their
** state) in *last, for profile_exit. *started must be 0 before the first call. Returns 0 if there
** are no more deaths.
*/
int orphans_last (Profile *p, int *started, ProfileLast *last);

/* Drops the orphans of 'p' (samples of native memory that outlive their state) and stops watching
   their blocks. */
void orphans_forget (const Profile *p);

/* Drops all orphans (native blocks that outlive the state that was sampled) in the child of a
   fork. */
void orphans_forked (void);

#endif
