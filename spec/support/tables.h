/* SPDX-License-Identifier: MIT */
/*
** A counter of the entries that the hash tables of asamp/ visit. They call HASH_STEP for each
** entry; only in the Lua module 'tables' (tables.c) does it count.
*/
extern unsigned long long tables_steps;
#define HASH_STEP()	((void)tables_steps++)
