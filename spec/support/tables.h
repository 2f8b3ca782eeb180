/* SPDX-License-Identifier: MIT */
/*
** The hash tables of asamp/ call HASH_STEP for each visited entry. When they are compiled for the
** Lua module 'tables' (tables.c), it increments this counter.
*/
extern unsigned long long tables_steps;
#define HASH_STEP()	((void)tables_steps++)
