/* SPDX-License-Identifier: MIT */
/*
** The file of a snapshot until it is complete. If the final file is a regular one, the snapshot is
** written to another file of the same folder, with a temporary name, which then replaces the final
** file. Other kinds of files (a pipe, /dev/null) are written directly. Invariants:
**
**   DR1  a file that existed and was not empty changes only by the rename of a complete snapshot;
**   DR2  an empty final file has the name and the lock of place.h until the snapshot replaces it.
**        It is removed if the snapshot fails, even if it existed before;
**   DR3  draft_end and draft_drop call no function that allocates, so a forked child may call them
**        (SN3 of snapshot.h). All names are absolute, if the current folder is known, because the
**        program may change it.
*/
#ifndef asamp_draft_h
#define asamp_draft_h

#include "place.h"

#include <sys/stat.h>

typedef struct Draft {
  int fd;		/* descriptor to which the snapshot is written */
  char *name;		/* temporary name; NULL: 'fd' is the final file */
  char *target;		/* name of the final file, which is no symbolic link */
  struct stat final;	/* status of the final file when draft_start was called */
} Draft;

/*
** Creates the temporary file for the final file that 'place' has opened and not emptied
** (PlaceWish.later). The caller keeps place->fd open and locked until the snapshot has ended.
** Returns 0 or an errno. In both cases the caller calls draft_free later.
*/
int draft_start (Draft *d, const Place *place);

/*
** Renames the complete file to its final name if 'error' is 0. If 'error' is not 0, or if the
** rename fails, calls draft_drop. Returns the errno of the first failure, or 0.
*/
int draft_end (Draft *d, int error);

/* Removes the temporary file. Also removes the final file if it was empty when draft_start was
   called, and is still the same empty file (DR2). Returns 1 if a temporary file was removed. */
int draft_drop (const Draft *d);

/* Closes the temporary file and frees the names. */
void draft_free (Draft *d);

#endif
