/* SPDX-License-Identifier: MIT */
/* The function that the tables of the module 'tables' call for each visited entry. */
extern unsigned long long tables_steps;
#define HASH_STEP()	((void)tables_steps++)
