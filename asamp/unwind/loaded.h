/* SPDX-License-Identifier: MIT */
/*
** Finds the loaded object file that contains an address, also in signal handlers. Uses
** _dl_find_object (glibc 2.35), or else a table. dl_iterate_phdr fills the table outside handlers,
** because it takes the loader's lock.
**
**   LD1  loaded_find takes no lock, allocates nothing and is async-signal-safe; it may interrupt
**        loaded_refresh;
**   LD2  the table may be outdated: it may lack files, or have files that are no longer in memory.
**        If loaded_isold returns 1, the caller must check that the file is readable.
*/
#ifndef asamp_loaded_h
#define asamp_loaded_h

#define LOADED_MAX	1024	/* object files in the table; further ones are not found */

/* An object file in memory. */
typedef struct Loaded {
  const char *from, *to;	/* addresses from 'from' to below 'to' */
  const void *table;		/* .eh_frame_hdr (search table of unwind tables), or NULL */
} Loaded;

/* Fills the table again, and returns 1, if object files were loaded or unloaded since the last
   call. Returns 0 if _dl_find_object replaces the table. May wait for the loader's lock. */
int loaded_refresh (void);

/* Returns 1 if loaded_find uses the table. */
int loaded_isold (void);

/* Finds the object file of an address. Returns 0 if no object file has the address, or before
   loaded_refresh. */
int loaded_find (const void *address, Loaded *object);

#endif
