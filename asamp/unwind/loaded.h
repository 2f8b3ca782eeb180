/* SPDX-License-Identifier: MIT */
/*
** Finds the loaded object file that contains an address, also in signal handlers. In glibc 2.35
** and newer, the function _dl_find_object does that; it is looked up at run time. With an older
** glibc, this file keeps a table of the object files, filled by dl_iterate_phdr. A handler only
** reads the table, because dl_iterate_phdr takes the loader's lock.
**
**   LD1  loaded_find takes no lock, allocates nothing and is async-signal-safe. It may interrupt
**        loaded_refresh, on the same thread or on another;
**   LD2  the table may be older than the latest dlopen or dlclose. An object file that it lacks is
**        not found until the next loaded_refresh, and a file that it has may be unmapped. So if
**        loaded_isold returns 1, the caller of loaded_find must check that the file is readable.
*/
#ifndef asamp_loaded_h
#define asamp_loaded_h

#define LOADED_MAX	1024	/* largest number of object files in the table; further ones are
				   not found */

/* An object file in memory. */
typedef struct Loaded {
  const char *from, *to;	/* its addresses: from 'from' to below 'to' */
  const void *table;		/* its .eh_frame_hdr (search table of the unwind tables), or
				   NULL */
} Loaded;

/* Prepares loaded_find. Returns 0 with _dl_find_object, which needs no table. With an older glibc,
   reads the table again if object files were loaded or unloaded, and then returns 1. May wait for
   the loader's lock. */
int loaded_refresh (void);

/* Returns 1 if loaded_find uses the table: glibc is older than 2.35, or loaded_refresh was not yet
   called. */
int loaded_isold (void);

/* Finds the object file of an address. Returns 0 if there is none, or before loaded_refresh. */
int loaded_find (const void *address, Loaded *object);

#endif
