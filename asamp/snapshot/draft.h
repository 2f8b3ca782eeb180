/* SPDX-License-Identifier: MIT */
/*
** Writes a heap snapshot to a temporary file in the folder of the final file. When the snapshot is
** complete, the temporary file replaces the final file. A final file that is not a regular file,
** such as a pipe or /dev/null, is written directly.
**
**   DR1  a nonempty file changes only by the rename of a complete snapshot;
**   DR2  while the temporary file is written, an empty file has the final name and the lock of
**        place.h. The empty file is removed if the snapshot fails;
**   DR3  draft_end and draft_drop do not allocate, so a forked child may call them. Names are
**        absolute, because the program may change its folder.
*/
#ifndef asamp_draft_h
#define asamp_draft_h

#include "place.h"

#include <sys/stat.h>

typedef struct Draft {
  int fd;		/* descriptor of the file that is being written */
  char *name;		/* temporary name; NULL: 'fd' is the final file */
  char *target;		/* path of the final file, with links resolved */
  struct stat final;	/* status of the final file at draft_start */
} Draft;

/* Creates the temporary file of a snapshot. 'place' is the final file, opened but not emptied by
   place_open; keep it open until draft_free. Returns 0 or an errno; call draft_free in either
   case. */
int draft_start (Draft *d, const Place *place);

/* Completes the snapshot if 'error' is 0: gives the temporary file its final name. If 'error' is
   not 0, or if this fails, calls draft_drop. Returns 0, 'error', or the errno of the failure. */
int draft_end (Draft *d, int error);

/* Removes the temporary file, and the final file if it is still empty. Returns 1 if a temporary
   file was removed. */
int draft_drop (const Draft *d);

/* Closes the temporary file and frees the names of the files. */
void draft_free (Draft *d);

#endif
