/* SPDX-License-Identifier: MIT */
/*
** Userdata that die young stay young until their finalizer has run.
**
** The reason: a minor collection that finds a userdata dead must keep it for its finalizer, and
** after the call the userdata is usually garbage. If it were tenured, only a major collection could
** free it: buffers and cursors that are dropped at once made the heap of a host grow.
**
** So the collection leaves the userdata young. While the collection runs, the userdata has the bit
** LUAN_MET; the objects that it refers to are marked, but not the userdata itself. The next minor
** collections leave it young again, until its finalizer is called. A minor collection that reaches
** the userdata from a live object treats it like any object. After the call the userdata is like
** any new object, wherever the finalizer has stored it.
**
** Its memory is kept as if it were marked. A large userdata is kept by sweep.c. The lines of a
** small one have the mark LUAN_HELD until the next minor collection. (The lines of live small
** userdata that a minor collection has left young have LUAN_HELD, too: ageing.h.)
**
** The userdata is tenured like other objects in these cases: a weak table refers to it;
** MOST_WAITING others are pending in finalize.left; there is no memory to list it; it owns external
** bytes; a major collection runs or starts.
**
** finalize.left has the userdata that the last minor collection has left young for their
** finalizers, in the order of the calls. The finalizers of the first finalize.called ones were
** called (G11).
*/
#ifndef luaN_waiting_h
#define luaN_waiting_h

#include "lgc.h"
#include "lstate.h"

/* Removes the mark LUAN_HELD from the lines of all small userdata that the last minor collection
   left young, and empties finalize.aged, the list of the live ones among them. To be called when
   a minor collection starts. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Keeps the userdata that earlier minor collections have left young for their finalizers
   (finalize.left), if their finalizers were not called and they are not marked. Leaves them
   young again or, if mark.ageing is 0, marks them. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* Tries to leave o young until its finalizer has run. If that is possible, marks the objects
   that o refers to, and returns 1. Otherwise returns 0; the caller must mark o. To be called
   when o was just queued for its finalizer. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/*
** Keeps the memory of the small userdata that the running minor collection leaves young, and
** reports deaths to the sampler. To be called when everything is marked and nothing is swept.
**   - Sets LUAN_HELD, a mark that keeps lines from being reused, on the lines of these userdata.
**   - Reports those small userdata that have died after the call of their finalizers, and that
**     the sampler watches (luaN_iswatched).
**   - If the finalizer of a userdata in finalize.left was called, replaces the entry by the
**     userdata's block, or by NULL if no lines have become free.
*/
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* Removes from finalize.left the userdata that were marked or whose finalizers were called. To
   be called after the sweep, because until then a dead userdata may be in another list. If such
   a userdata has freed lines, moves its block to the list for the block's free lines
   (luaN_relist). */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* Tenures all userdata that minor collections have left young (finalize.left and finalize.aged),
   and empties these lists. To be called right after a minor collection, before a major one
   starts. The caller must then drain mark.young. */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* Empties finalize.left and finalize.aged, the lists of userdata that minor collections have
   left young. To be called when a full collection starts, which leaves none young. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);

#endif
