/* SPDX-License-Identifier: MIT */
/*
** Names C functions by the tables in which a module registered them ("cjson.decode"). These names
** are used for functions that have no symbol. The thread that runs a state finds a name
** (cnames.h), and the thread that writes a profile reads it. Rules:
**
**   RE1  an entry is added once and stays for the life of the process, so readers take no lock.
**        The first name found for an address is final;
**   RE2  at most REGISTERED_MOST addresses are stored. Functions at further addresses have no name.
*/
#ifndef asamp_registered_h
#define asamp_registered_h

#include <stddef.h>

#define REGISTERED_MOST	2048	/* largest number of addresses; a power of 2 */

/* Largest number of bytes of a name. */
#define REGISTERED_NAME	120

/*
** Returns 1 if the caller should search for the name of the C function at 'function' now: it has no
** name, it is one of the first REGISTERED_MOST functions, and this is the first, second, fourth,
** eighth ... call for it. Searches are repeated because a module may register the function late.
** Returns 0 if there is not enough memory. Allocates with malloc. Thread-safe, also during a fork.
*/
int registered_iswanted (const void *function);

/* Sets the name of a function for which registered_iswanted has returned 1. Copies the name. */
void registered_set (const void *function, const char *name);

/* Returns the name of the C function that starts at the address, or NULL. Thread-safe. */
const char *registered_name (const void *function);

#endif
