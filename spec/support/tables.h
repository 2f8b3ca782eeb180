/* SPDX-License-Identifier: MIT */
/*
** Counter that the hash tables increment for each visited entry when they are compiled for the
** module 'tables' (see HASH_STEP).
*/
extern unsigned long long tables_steps;
#define HASH_STEP()	((void)tables_steps++)
