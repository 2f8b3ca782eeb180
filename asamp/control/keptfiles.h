/* SPDX-License-Identifier: MIT */
/*
** The list of profile files that the process has written by its pattern. The option keep=
** limits how many of them stay; the oldest are removed. Files of recordings, of requested dumps
** of a flight recorder and the file that a flight recorder writes at its end are not on the
** list. Only the control thread calls these functions.
*/
#ifndef asamp_keptfiles_h
#define asamp_keptfiles_h

#include <stdint.h>

/* Sets the number of files that stay (0: all). It is called before the first keptfiles_add. */
void keptfiles_setup (uint64_t n);

/* Adds the file 'path' to the list, and removes the oldest files that exceed the limit. */
void keptfiles_add (const char *path);

/*
** Adds the file that is being written now, if its name comes from the pattern. It is called
** before and after every change to another file.
*/
void keptfiles_current (void);

/* Empties the list in the child of a fork; the files are those of the parent. */
void keptfiles_forked (void);

#endif
