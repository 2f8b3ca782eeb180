/* SPDX-License-Identifier: MIT */
/*
** Finds the loaded object file that contains an address, also in signal handlers. Calls
** _dl_find_object if the C library has this function (glibc 2.35 or newer). Otherwise searches a
** table of object files. The table is filled outside of signal handlers, by dl_iterate_phdr, which
** takes the loader's lock.
**
**   LD1  loaded_find takes no lock, allocates nothing and is async-signal-safe; it may interrupt
**        loaded_refresh;
**   LD2  the table may be outdated: it may lack files, or have files that are no longer in memory.
**        If loaded_isold returns 1, the caller must check that the memory of the file is readable.
*/
#ifndef asamp_loaded_h
#define asamp_loaded_h

#define LOADED_MAX	1024	/* largest number of object files in the table; further ones are not
                                   found */

/* An object file in memory. */
typedef struct Loaded {
  const char *from, *to;	/* the file's memory: addresses from 'from' to below 'to' */
  const void *table;		/* address of .eh_frame_hdr, the sorted table of functions by which
                                   unwind tables are searched; NULL: none */
  const struct link_map *map;	/* the loader's data about the file; NULL: unknown, because the
                                   file was found in the table */
} Loaded;

/* If object files were loaded or unloaded since the last call, fills the table again and returns 1.
   Otherwise, or if _dl_find_object is used instead of the table, returns 0. May wait for the
   loader's lock. */
int loaded_refresh (void);

/* Returns 1 if loaded_find uses the table, because _dl_find_object is not available or
   loaded_refresh was not called yet. */
int loaded_isold (void);

/* Sets counts[0] to the total number of object files that the loader has loaded, and counts[1] to
   the total number that it has unloaded. May wait for the loader's lock. */
void loaded_counts (unsigned long long counts[2]);

/* Finds the object file that contains an address. Returns 0 if there is none, or before the first
   call of loaded_refresh. */
int loaded_find (const void *address, Loaded *object);

#endif
