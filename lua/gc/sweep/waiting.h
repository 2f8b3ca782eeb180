/* SPDX-License-Identifier: MIT */
/*
** Dead userdata that stay young until their finalizer is called. A minor collection that finds a
** young userdata with a finalizer dead must keep the userdata until its finalizer is called;
** afterwards the userdata is usually garbage. If the userdata were tenured (made old), only a major
** collection could free it.
**
** The collection sets LUAN_MET (reached but not tenured by this collection) of such a userdata, and
** marks the objects to which it refers. Later minor collections do the same until the finalizer is
** called. Afterwards the userdata is treated like any new object, wherever the finalizer has stored
** it.
**
** The sweep of lists.large keeps a large userdata. The lines (units of 64 bytes) of a small
** userdata have the mark LUAN_HELD until the next minor collection; it keeps them in use.
**
** The userdata is tenured like other objects if a weak table refers to it, if it owns external
** bytes, if MOST_WAITING others are pending finalization, if there is no memory to list it, or if a
** major collection runs or starts.
**
** finalize.left lists these userdata in the order in which their finalizers are called. The
** finalizers of the first finalize.called entries were called already (G11). Live small userdata
** that were not tenured are in finalize.aged (ageing.h).
*/
#pragma once

#include "lgc.h"

/* To be called when a minor collection starts. Removes LUAN_HELD, which keeps lines of memory from
   being reused, from the lines of all small userdata that the last minor collection has left young.
   Empties finalize.aged, the list of the live ones among them. */
LUAI_FUNC void luaN_beginwaiting (global_State *g);

/* Keeps the dead young userdata whose finalizers were not called yet. If mark.ageing is 1, leaves
   them young and marks the objects to which they refer; else tenures them. */
LUAI_FUNC void luaN_keepwaiting (global_State *g);

/* To be called for an object o that was just queued for its finalizer. If o is a userdata that may
   stay young, marks the objects to which o refers, and returns 1. For any other object returns 0,
   and the caller must mark o. */
LUAI_FUNC int luaN_waits (global_State *g, GCObject *o);

/*
** Sets LUAN_HELD, which keeps lines from being reused, on the lines of the small userdata that this
** minor collection leaves young. Reports the deaths of userdata whose finalizers have run, if the
** sampler watches them. To be called when marking has ended and nothing is swept yet.
**
** Replaces the first finalize.called entries of finalize.left, because the finalizers of these
** userdata have run, and the sweep may free them. The entry of a young small userdata becomes the
** address of its block, which luaN_dropwaited uses after the sweep. Any other entry becomes NULL.
*/
LUAI_FUNC void luaN_endwaiting (lua_State *L);

/* To be called after the sweep, because the lists of sweep.c may contain dead userdata until then.
   Removes from finalize.left (dead userdata that were left young) the userdata that are old now or
   whose finalizers have run. Moves each block in which lines were freed to the list of blocks with
   its number of free lines. */
LUAI_FUNC void luaN_dropwaited (global_State *g);

/* Tenures all userdata that minor collections have left young, before a major collection starts. To
   be called right after a minor collection. The caller must then traverse the objects on mark.young
   (luaN_drain). */
LUAI_FUNC void luaN_tenurewaiting (global_State *g);

/* Empties finalize.left and finalize.aged, the lists of userdata that minor collections have left
   young. To be called when a full collection starts, which tenures all live objects. */
LUAI_FUNC void luaN_forgetwaiting (global_State *g);
