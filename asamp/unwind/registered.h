/* SPDX-License-Identifier: MIT */
/*
** Stores names of C functions that have no symbol. The names come from the tables in which modules
** have registered the functions, such as "cjson.decode". The thread that runs a Lua state finds a
** name (cnames.h); the thread that writes the profile reads it.
**
**   RE1  an entry is never removed and its name never changes, so readers take no lock;
**   RE2  at most REGISTERED_MOST functions are stored. 'function' is a function's id (codefile.h),
**        because another library may be loaded at the address later.
*/
#ifndef asamp_registered_h
#define asamp_registered_h

#include <stdint.h>

#define REGISTERED_MOST	2048	/* largest number of C functions that are stored, with or without
                                   a name; a power of 2 */

/* Maximum length of a name, in bytes. */
#define REGISTERED_NAME	120

/* Returns 1 if the name of a C function should be searched now: it has no name yet, and this is the
   1st, 2nd, 4th, 8th, ... call for this function. A search is repeated, because a module may
   register its functions late. Returns 0 if the function cannot be stored, because REGISTERED_MOST
   other functions are stored or memory has run out. Allocates. Thread-safe. */
int registered_iswanted (uint64_t function);

/* Stores a copy of the name of a function for which registered_iswanted has returned 1. Does
   nothing if the function already has a name, or if out of memory. */
void registered_set (uint64_t function, const char *name);

/* Returns the name of a C function, or NULL. Thread-safe. */
const char *registered_name (uint64_t function);

#endif
