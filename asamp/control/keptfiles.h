/* SPDX-License-Identifier: MIT */
/*
** The list of profile files that the process has written under names from its pattern. The option
** keep= limits the number of these files; the oldest are removed. Not on the list are files of
** recordings, dumps of a flight recorder that a client has requested, and the file that a flight
** recorder writes at its end. Only the control thread calls keptfiles_add and keptfiles_current.
*/
#ifndef asamp_keptfiles_h
#define asamp_keptfiles_h

#include <stdint.h>

/* Sets the largest number of files on the list (0: no limit). Called before the control thread
   starts. */
void keptfiles_setup (uint64_t n);

/*
** Adds the file 'path' to the list, and removes the oldest file if the list exceeds the limit. Does
** nothing if the file does not exist or is the last one of the list. If there is not enough memory,
** the file is not added, and so never removed.
*/
void keptfiles_add (const char *path);

/*
** Adds the profile file that is being written now, if its name comes from the pattern. Called
** before each switch to another file, and after a switch to a file of the pattern.
*/
void keptfiles_current (void);

/* Empties the list in the child of a fork, because the files belong to the parent. */
void keptfiles_forked (void);

#endif
