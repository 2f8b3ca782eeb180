/* SPDX-License-Identifier: MIT */
/*
** The files by the process's pattern, of which so many stay (keep=), the newest. A recording is
** none of them, nor what a flight recorder writes because it was asked to, or ends. Used by the
** control's thread alone.
*/
#ifndef asamp_keptfiles_h
#define asamp_keptfiles_h

#include <stdint.h>

/* So many stay; 0: all. Before the first of them. */
void keptfiles_setup (uint64_t n);

/* That is one of them; those that are too many go. */
void keptfiles_add (const char *path);

/* The file that is written now is one, if it is by the pattern: to be called before and after
   whatever has the process go on in another. */
void keptfiles_current (void);

/* In the child of a fork: there is none. */
void keptfiles_forked (void);

#endif
