/* SPDX-License-Identifier: MIT */
/*
** Userdata wait young for the call of their finalizer.
**
** A minor collection that finds one dead, which has a finalizer, must keep it until that has been
** called, and as a rule it is dead for good then. Were it tenured, it would take a look at all that
** is old to find it so: buffers and cursors made the heap of a host grow that drops each
** of them at once. So it is left young, if nothing that is alive again refers to it (MET of gc.h,
** while the collection runs): what it refers to is marked, itself it is not. The next minor
** collection leaves it once more, until its call; from then on it is as young as what has
** just been made, whoever the finalizer has given it to.
**
** In memory it stays as if it had been marked: of a large one sweep.c knows; the lines of another
** bear LUAN_HELD, which the next minor collection takes off. (So do those of others in lines that
** have a finalizer and age, which are alive: ageing.h.) Where weak tables ask for it, more
** than some thousands wait, it stands for bytes outside, or a major collection runs or
** begins, it is tenured as all else.
**
** finalize.left has all that the last minor collection has left, in the order of their calls,
** of which 'called' have been called by now (G11).
*/
#ifndef luaN_waiting_h
#define luaN_waiting_h

#include "lgc.h"
#include "lstate.h"

/* A minor collection begins: no lines are HELD for what the last one has left young in them. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Those that still wait are left once more, unless they are marked; where none may stay young
   (ageing.h) they are marked at once. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* o, which has just been selected, waits, and what it refers to is marked; 0: it must be marked
   itself. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/* All is marked, nothing swept: who waits on, or ages, has its lines; of those that were called the
   dead are told to a sampler. */
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* ... and swept, for a dead one may still be in a list: those that were marked wait no more, and
   the lines of the dead are free. */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* The finalizer of o is about to be called. */
#define luaN_waited(c,o) \
  ((c)->finalize.called += ((c)->finalize.called < (c)->finalize.left.n && \
                            (c)->finalize.left.a[(c)->finalize.called] == (void *)(o)))

/* Right behind a minor collection: all of them, and those that age, are tenured after all. */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* A full collection begins, which takes them for what they are. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);

#endif
