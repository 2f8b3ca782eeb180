/* SPDX-License-Identifier: MIT */
/*
** Names C functions by the tables in which modules registered them ("cjson.decode"), for functions
** without a symbol. The thread that runs a state finds a name (cnames.h); the profile's writer
** reads it.
**
**   RE1  an entry is never removed and its name never changes, so readers take no lock;
**   RE2  at most REGISTERED_MOST addresses are stored.
*/
#ifndef asamp_registered_h
#define asamp_registered_h

#include <stddef.h>

#define REGISTERED_MOST	2048	/* most addresses; a power of 2 */

/* Maximum length of a name, in bytes. */
#define REGISTERED_NAME	120

/* Returns 1 if the name of a C function should be searched now: it has none, and this is the 1st,
   2nd, 4th, 8th, ... call for the function. A search is repeated because a module may register its
   functions late. Allocates. Thread-safe. */
int registered_iswanted (const void *function);

/* Sets the name of a function after registered_iswanted; copies it. */
void registered_set (const void *function, const char *name);

/* Returns the name of the C function at an address, or NULL. Thread-safe. */
const char *registered_name (const void *function);

#endif
