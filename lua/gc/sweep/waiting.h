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

/* To be called when a minor collection starts. Removes the mark LUAN_HELD from the lines of all
   small userdata that the last minor collection left young, and empties finalize.aged, the list of
   the live ones among them. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Visits the userdata that earlier minor collections have left young for their finalizers
   (finalize.left). Leaves young those whose finalizers were not called and that are not marked. If
   mark.ageing is 0, marks them instead. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* To be called for object o, which was just queued for its finalizer. If o may stay young, leaves
   it young, marks the objects that it refers to, and returns 1. Else returns 0; the caller must
   then mark o. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/*
** To be called when everything is marked and nothing is swept:
**   - sets LUAN_HELD, a mark that keeps the lines from being reused, on the lines of the small
**     userdata that stay young
**   - reports to the sampler those small userdata that have died after the call of their finalizers
**     and that are watched (luaN_iswatched)
**   - if the finalizer of a userdata in finalize.left was called, replaces the entry by the
**     userdata's block, or by NULL if no lines have become free ('dropped')
*/
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* To be called after the sweep; until then a dead userdata may be in another list. Removes from
   finalize.left the userdata that were marked or whose finalizers were called. Small userdata that
   have died after the call of their finalizers have freed lines: calls luaN_relist for their
   blocks, which moves a block to the list for its number of free lines. */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* To be called right after a minor collection, before a major one starts. Tenures all userdata of
   finalize.left and finalize.aged, and empties these lists. The caller must then drain
   mark.young. */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* To be called in a full collection, which leaves no userdata young: empties finalize.left and
   finalize.aged. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);

#endif
