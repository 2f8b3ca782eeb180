/* SPDX-License-Identifier: MIT */
/* Scanning of a stack, its CallInfos and open upvalues (T1 to T4 of gc.h). */
#ifndef luaN_scan_h
#define luaN_scan_h

/*
** Scans the stack of th, or, if 'all' is 0, only the part that may have changed since the last
** scan:
**   1. marks the objects in its slots, the open upvalues, and the lines of the stack and the
**      CallInfos
**   2. may shorten the stack, except in an emergency
**   3. sets the slots above the top to nil (T3)
**   4. sets LUAN_CLEAN of th (its stack has not changed since a scan), unless th is the main
**      thread, young, or in remset.objects
** Returns the cost in bytes.
*/
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* These functions scan an old thread in slices of a major collection, if its stack or its list of
   CallInfos is too long for one slice. luaN_beginthread prepares the scan. luaN_threadslice visits
   up to n CallInfos or slots, and sets mark.thread to NULL when the thread is done. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);

#endif
