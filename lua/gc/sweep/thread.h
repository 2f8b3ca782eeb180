/* SPDX-License-Identifier: MIT */
/* Threads: allocation, moves and shrinking of their stacks, and their end. (scan.c scans
   stacks.) */
#pragma once

/*
** Frees unused memory of th: shortens a stack that is little used, moves it to a smaller block of
** memory if much of its block is unused, and frees half of the unused CallInfos. If 'all' is 1,
** frees nearly all unused CallInfos. Returns the cost (unit: the time to mark one byte). May
** allocate.
**
** If 'all' is 0 and a collection has recently shortened the stack in place (LUAN_LONG), only clears
** LUAN_LONG: the stack was deep a short time ago, and may soon be deep again.
*/
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all);

/* Calls luaN_shrinkthread, with this 'all', for the running thread L and for the main thread. */
LUAI_FUNC void luaN_shrinkown (lua_State *L, int all);

/* Ends the dead thread th: closes those of its open upvalues that are alive. If its stack is large
   (more than LUAN_LARGE bytes), returns the stack to lua_Alloc. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);
