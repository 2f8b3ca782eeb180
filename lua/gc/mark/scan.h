/* SPDX-License-Identifier: MIT */
/* Scanning of a stack, its CallInfos and open upvalues (T1 to T4 of gc.h). */
#ifndef luaN_scan_h
#define luaN_scan_h

/* Marks the objects and open upvalues in the part of th's stack that may have changed since the
   last scan ('all': in the whole stack), and the lines of the stack and its CallInfos. Sets the
   slots above the top to nil (T3); may shorten the stack, except in an emergency. Makes th clean,
   unless th is the main thread, young or logged. Returns the cost in bytes. */
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* Scan an old thread in slices, because its stack or its list of CallInfos is too long for one
   slice of a major collection: luaN_beginthread prepares the scan, luaN_threadslice visits up to n
   CallInfos or slots, and sets mark.thread to NULL when the thread is done. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);

#endif
