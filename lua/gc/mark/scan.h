/* SPDX-License-Identifier: MIT */
/* Scanning of a stack, its CallInfos and open upvalues (T1 to T4 of gc.h). */
#ifndef luaN_scan_h
#define luaN_scan_h

/*
** Marks from the stack of th: from the part that may have changed since the last scan, or from all
** of it if 'all' is 1. Returns the cost in bytes.
**
** May shorten the stack, except in an emergency. Sets the slots above the top to nil (T3). Sets
** LUAN_CLEAN, unless th is the main thread, young, or in remset.objects.
*/
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* Scan an old thread with a deep stack in slices. luaN_beginthread starts with th. luaN_threadslice
   visits up to n CallInfos or slots, and sets mark.thread to NULL at the end. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);

#endif
