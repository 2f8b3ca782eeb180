/* SPDX-License-Identifier: MIT */
/*
** Orphans: samples of native memory whose Lua state was closed before the block was freed. Only
** states that share a profile leave orphans. The death of an orphan is reported after its block is
** freed. Call the functions with the lock of the list of samplers held (SS1 of sampler.h);
** orphans_aredue and orphans_forked need no lock.
**
**   OP1  all orphans belong to one profile. orphans_adopt first removes those of another profile;
**   OP2  the orphans of a state are consecutive, in the order of the list of survivors (P7 of
**        profile.h). Their deaths are reported after the state's end;
**   OP3  each orphan has a slot that watches its block (mallocs.h); so there are at most
**        MALLOC_SLOTS.
*/
#ifndef asamp_orphans_h
#define asamp_orphans_h

#include "profile.h"
#include "tracker.h"

/* Makes orphans of the live native-memory samples of state 's'. If there are any, removes all
   orphans of other profiles (OP1). 't': the state's tracker. Call it before the end of the state is
   reported. Returns the number of new orphans; 0 also if out of memory. */
uint64_t orphans_adopt (const ProfileState *s, Tracker *t);

/* Returns 1 if orphans_emit should be called at the time 'now' (ns): since its last call, watched
   blocks were freed and enough time has passed. */
int orphans_aredue (const Profile *p, uint64_t now);

/* Reports the deaths of orphans (samples of closed states) of 'p' whose blocks were freed, and
   removes these orphans. */
void orphans_emit (Profile *p);

/* Like orphans_emit, for profile_exit: each call stores deaths of one closed state in *last. Before
   the first call, set *started to 0. Returns 0 if all deaths were stored by earlier calls. */
int orphans_last (Profile *p, int *started, ProfileLast *last);

/* Removes the orphans (samples of closed states) of 'p' and stops watching their blocks. */
void orphans_forget (const Profile *p);

/* Removes all orphans (samples of closed states), in a forked child. */
void orphans_forked (void);

#endif
