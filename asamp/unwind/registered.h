/* SPDX-License-Identifier: MIT */
/*
** Names of C functions by the tables in which a module registered them ("cjson.decode"), used for
** functions that no symbol names. The thread that runs a state finds a name (cnames.h); the
** thread that writes a profile reads it. Rules:
**
**   RE1  an entry is added once and stays for the life of the process: readers take no lock. The
**        first name of an address counts;
**   RE2  at most REGISTERED_MOST addresses. Further ones have no name.
*/
#ifndef asamp_registered_h
#define asamp_registered_h

#include <stddef.h>

#define REGISTERED_MOST	2048	/* addresses; a power of 2 */

/* Largest number of bytes of a name. */
#define REGISTERED_NAME	120

/*
** Returns 1 if the name of the C function at 'function' is to be searched now: it has none, RE2
** permits one, and this call is the first, second, fourth, eighth ... one for the function (a
** module may register it late). Returns 0, too, if there is not enough memory. Allocates with
** malloc. Thread-safe, also during a fork.
*/
int registered_iswanted (const void *function);

/* Sets the name of a function for which registered_iswanted has returned 1. Copies the name. */
void registered_set (const void *function, const char *name);

/* Returns the name of the C function that starts at the address, or NULL. Thread-safe. */
const char *registered_name (const void *function);

#endif
