/* SPDX-License-Identifier: MIT */
/*
** Userdata that die young stay young until their finalizer has run.
**
** A minor collection that finds a userdata dead must keep it for its finalizer; after the call it
** is usually garbage. If it were tenured, only a major collection could free it: buffers and
** cursors that are dropped at once made the heap of a host grow. So it is left young, unless a
** live object refers to it again: it has LUAN_MET while the collection runs, and the objects that
** it refers to are marked, but not the userdata itself. The next minor collections leave it young
** again, until its finalizer is called. From then on it is like any new object, whatever the
** finalizer has stored it in.
**
** Its memory is kept as if it were marked: sweep.c keeps a large one; the lines of a small one
** have LUAN_HELD until the next minor collection. (So have those of small userdata that are
** ageing and alive: ageing.h.) It is tenured like other objects if a weak table must be able to
** refer to it, if more than MOST_WAITING are pending, if it owns external bytes, or if a major
** collection runs or starts.
**
** finalize.left has all of them that the last minor collection has left young, in the order in
** which their finalizers are called; those of the first 'called' have been called (G11).
*/
#ifndef luaN_waiting_h
#define luaN_waiting_h

#include "lgc.h"
#include "lstate.h"

/* Removes LUAN_HELD from the lines of all userdata that the last minor collection left young. To
   be called when a minor collection starts. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Leaves userdata young that are still pending finalization and not marked; if none may stay
   young (ageing.h), marks them. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* Leaves o, which was just selected, young, and marks the objects that it refers to. Returns 0 if
   that is not possible; o must be marked then. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/* Marks the lines of the userdata that stay young with LUAN_HELD. Of those whose finalizers were
   called, reports the dead to the sampler. To be called when everything is marked and nothing is
   swept. */
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* Removes from the list the userdata that were marked or whose finalizers were called, and frees
   the lines of dead ones. To be called after the sweep, because a dead one may be in another list
   until then. */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* Counts o as called if it is the next one of finalize.left. To be called before its finalizer
   runs. */
#define luaN_waited(c,o) \
  ((c)->finalize.called += ((c)->finalize.called < (c)->finalize.left.n && \
                            (c)->finalize.left.a[(c)->finalize.called] == (void *)(o)))

/* Tenures all userdata that stayed young. To be called right after a minor collection. */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* Empties the lists for a full collection, which treats these userdata like all others. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);

#endif
