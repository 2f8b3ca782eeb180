/* SPDX-License-Identifier: MIT */
/* The profile files that the process has written under names made from the option 'out'. The option
   'keep' limits the number of these files. Requested recordings and dumps, and a flight recorder's
   last file, are not listed. Used only by the control thread. */
#ifndef asamp_keptfiles_h
#define asamp_keptfiles_h

#include <stdint.h>

/* Sets the largest number of files (0: no limit). Call it before the control thread starts. */
void keptfiles_setup (uint64_t n);

/* Adds a file to the list, unless it does not exist or is the last in the list. Deletes the oldest
   file if the list exceeds the limit. Does nothing if there is no limit or not enough memory. */
void keptfiles_add (const char *path);

/* Adds the file being written to the list, unless it is a requested recording. Call it before and
   after each change of the file. */
void keptfiles_current (void);

/* Empties the list in a forked child, because the files belong to the parent. */
void keptfiles_forked (void);

#endif
