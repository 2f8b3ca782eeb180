/* SPDX-License-Identifier: MIT */
/*
** Finds and opens the file for a profile's path, so that no data are lost. Determines the contents
** of files only through filekind.h. Rules:
**
**   PL1  a non-empty file is emptied only if the caller may replace it and it is not being
**        written. With PLACE_PROFILES, the caller may replace profiles and heap snapshots of this
**        profiler; with PLACE_ALL, any regular file. The next free numbered name (app.vmprof,
**        app.2.vmprof, ...) is used if the file
**          - is being written
**          - is a profile or snapshot that may not be replaced
**          - exists and has a generated name (PL3)
**        Any other regular file is an error;
**   PL2  a new file is readable by its owner only (0600), because profiles contain arguments
**        and paths; an existing one keeps its mode;
**   PL3  a generated name can be guessed. So it is not followed if it is a symbolic link, and an
**        existing file is used only if it belongs to the process's user and may be replaced. For
**        other names: in a folder where all users may write, a link is not followed if it belongs
**        to a user other than the process's and the folder's owner. If only owners may remove
**        files there (/tmp), this holds for regular files, too;
**   PL4  a regular file is locked (flock) as long as it is open. So two sessions, of any
**        processes, never share a file, except sessions of two processes on a file system without
**        locks. Other kinds of files (a pipe, /dev/null) are used as they are.
*/
#ifndef asamp_place_h
#define asamp_place_h

#include <stddef.h>
#include <sys/stat.h>

enum { PLACE_NONE, PLACE_PROFILES, PLACE_ALL };  /* which existing files may be replaced (PL1):
						    none, profiles and heap snapshots, or all */

/* Largest number of file names that place_open tries for one path. */
#define PLACE_MOST	9999

typedef struct PlaceWish {
  const char *path;
  unsigned number;      /* first number tried; 0 and 1: the name without a number */
  int made;             /* 1: the name was generated, not given by the user, so that others can
			   guess it (PL3) */
  int replace;          /* PLACE_NONE, PLACE_PROFILES or PLACE_ALL */
  /* Returns 1 if this process already writes that file. NULL: assumes that it does not. */
  int (*taken) (const struct stat *file);
  /* 1: place_open does not empty a replaced file. The caller does it later, because it takes long
     for a large file. */
  int later;
  int folder;           /* descriptor of the folder of 'path', for callers that cannot reach the
			   folder by name any more (chroot); 0: none */
  /* Error message if the existing file may not be replaced, without its first words, which state
     the kind of the file. NULL: a message for profiles, which names the option overwrite. */
  const char *refusal;
} PlaceWish;

typedef struct Place {
  int fd;               /* descriptor for writing, never 0 to 2; -1: none */
  char *path;           /* path that was opened, or tried last; the caller frees it, also after a
			   failure */
  int busy;             /* 1: the requested file was not used because it is being written */
  int kept;             /* 1: the requested file was not used because it may not be replaced. It is
			   a profile or a snapshot, or its name was generated */
  int created;          /* 1: the file did not exist and was created */
  int folder;           /* copy of PlaceWish.folder */
} Place;

/* Opens the file, and empties it unless wish->later is set. Returns 0, or, with no file emptied, an
   errno and a phrase in 'why', which is empty if the errno's text is sufficient. */
int place_open (const PlaceWish *wish, Place *place, char *why, size_t size);

/*
** Removes the file that place_open opened, for callers that cannot use it. Does so only if
** place_open created the file, it is empty, and place->fd is still open.
*/
void place_undo (const Place *place);

/*
** Returns 1 if PL3 forbids to use the file whatever its name is: all users may write in the folder
** of 'path', and the file belongs neither to the user of the process nor to the owner of the
** folder. 'file' is the result of lstat.
*/
int place_foreign (const char *path, const struct stat *file);

#endif
