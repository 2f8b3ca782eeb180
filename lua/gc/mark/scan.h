/* SPDX-License-Identifier: MIT */
/* Scanning of a stack, its CallInfos and open upvalues (T1 to T4 of gc.h). */
#ifndef luaN_scan_h
#define luaN_scan_h

/*
** Marks from the stack of th: from the whole stack or, if 'all' is 0, only from the part that
** may have changed since the last scan. Returns the cost in bytes.
**   - Marks the objects in the slots, the open upvalues, and the lines of the stack and the
**     CallInfos.
**   - May shorten the stack, except in an emergency.
**   - Sets the slots above the top to nil (T3).
**   - Sets LUAN_CLEAN of th, which says that its stack has not changed since a scan, unless th
**     is the main thread, young, or in remset.objects.
*/
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* Scan, in slices of a major collection, an old thread whose stack or list of CallInfos is too
   long for one slice. luaN_beginthread prepares the scan of th. luaN_threadslice visits up to n
   CallInfos or slots, and sets mark.thread to NULL when the scan is complete. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);

#endif
