/* SPDX-License-Identifier: MIT */
/*
** Userdata that die young stay young until their finalizer has run.
**
** A minor collection that finds a userdata dead must keep it for its finalizer; after the call it
** is usually garbage. If it were tenured, only a major collection could free it: buffers and
** cursors that are dropped at once made the heap of a host grow. So the userdata is left young: it
** has LUAN_MET while the collection runs, and the objects that it refers to are marked, but not the
** userdata itself. The next minor collections leave it young again, until its finalizer is called;
** a minor collection that reaches the userdata from a live object treats it like any object. After
** the call the userdata is like any new object, wherever the finalizer has stored it.
**
** Its memory is kept as if it were marked: sweep.c keeps a large userdata; the lines of a small one
** have LUAN_HELD until the next minor collection. (So have the lines of small userdata that are
** ageing and alive: ageing.h.) The userdata is tenured like other objects if a weak table refers to
** it, if MOST_WAITING others are pending in finalize.left, if there is no memory to list it, if it
** owns external bytes, or if a major collection runs or starts.
**
** finalize.left has the userdata that the last minor collection has left young for their
** finalizers, in the order of the calls; the finalizers of the first finalize.called were called
** (G11).
*/
#ifndef luaN_waiting_h
#define luaN_waiting_h

#include "lgc.h"
#include "lstate.h"

/* Removes LUAN_HELD from the lines of all small userdata that the last minor collection left young,
   and empties finalize.aged. To be called when a minor collection starts. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Leaves young the userdata of finalize.left that are pending finalization and not marked; marks
   them instead if mark.ageing is 0. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* Leaves the just queued object o young, marks the objects that o refers to, and returns 1. Returns
   0 if that is not possible; the caller must mark o then. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/* Sets LUAN_HELD on the lines of the small userdata that stay young. Reports to the sampler the
   watched small userdata that are dead after the call of their finalizers; replaces the called ones
   in finalize.left by their blocks or NULL. To be called when everything is marked and nothing is
   swept. */
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* Removes from finalize.left the userdata that were marked or whose finalizers were called, and
   relists the blocks of the small dead ones, whose lines are free. To be called after the sweep,
   because a dead userdata may be in another list until then. */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* Tenures all userdata of finalize.left and finalize.aged, and empties these lists. To be called
   right after a minor collection; the caller must then drain mark.young. */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* Empties finalize.left and finalize.aged for a full collection, which treats their userdata like
   all others. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);

#endif
