/* SPDX-License-Identifier: MIT */
/* What the tables of the module 'tables' do when they look at an entry. */
extern unsigned long long tables_steps;
#define HASH_STEP()	((void)tables_steps++)
