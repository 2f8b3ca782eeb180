/* SPDX-License-Identifier: MIT */
/* Scans a thread's stack, its CallInfos and open upvalues (rules T1 to T4 of gc.h). */
#pragma once

/*
** Scans the part of th's stack that may have changed since the last scan, or the whole stack if
** 'all' is 1: marks the objects in its slots, its open upvalues, and the memory of its frames.
** Returns the cost in bytes: the size of a thread and of the scanned slots.
**
** Sets the slots above the top to nil (T3). May shorten the stack, except in an emergency
** collection. Then sets LUAN_CLEAN of th (its stack has not changed since a scan), unless th is the
** main thread, is young, or is in remset.objects.
*/
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* Starts a scan in slices of the old thread th, which has a deep stack; luaN_threadslice continues
   it. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);

/* Continues the scan that luaN_beginthread has started, of the stack of mark.thread: visits up to n
   CallInfos or slots. Sets mark.thread to NULL when the scan is complete. */
LUAI_FUNC void luaN_threadslice (global_State *g, int n);
