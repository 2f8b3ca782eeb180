/* SPDX-License-Identifier: MIT */
/*
** Finds and opens the file for a profile's path, such that no data are lost. Knows the contents
** of files only through filekind.h. Rules:
**
**   PL1  a non-empty file is emptied only if the caller may replace it: one of our profiles or heap
**        snapshots (PLACE_PROFILES) or any regular file (PLACE_ALL), and not while it is being
**        written. Instead of a profile or snapshot that may not be replaced, of any existing file
**        with a generated name, and of a file being written, the next free numbered name is used
**        (app.vmprof, app.2.vmprof, ...). Any other regular file is an error;
**   PL2  a new file is readable by its owner only (0600), because profiles contain arguments
**        and paths; an existing one keeps its mode;
**   PL3  generated names, which can be guessed, are not followed if they are symbolic links,
**        and existing files under them are used only if they belong to the process's user and may
**        be replaced. In a folder where all users may write but only owners may remove (/tmp),
**        regular files and links of users other than the process's and the folder's owner are
**        neither followed nor used, whatever the name;
**   PL4  a regular file is locked (flock) as long as it is open. Two sessions, of any
**        processes, never share a file, except two processes on file systems without locks. Other
**        kinds of files (a pipe, /dev/null) are used as they are.
*/
#ifndef asamp_place_h
#define asamp_place_h

#include <stddef.h>
#include <sys/stat.h>

enum { PLACE_NONE, PLACE_PROFILES, PLACE_ALL };  /* which files may be replaced */

/* Largest number of names that are tried. */
#define PLACE_MOST	9999

typedef struct PlaceWish {
  const char *path;
  unsigned number;      /* first number tried; 0 and 1: the name without a number */
  int made;             /* 1: the name was generated (PL3) */
  int replace;          /* PLACE_NONE, PLACE_PROFILES or PLACE_ALL */
  /* Returns 1 if this process already writes that file. NULL: assumes that it does not. */
  int (*taken) (const struct stat *file);
  int later;            /* 1: place_open does not empty a replaced file, which takes long for a
			   large one; the caller does */
  int folder;           /* descriptor of the folder of 'path', for callers that cannot reach
			   it by name any more (chroot); 0: none */
  const char *refusal;  /* text that follows the kind of the existing file in the error message
			   that the file may not be replaced; NULL: a text for profiles, which
			   names the option overwrite */
} PlaceWish;

typedef struct Place {
  int fd;               /* for writing, never 0 to 2; -1: none */
  char *path;           /* path opened, or tried last; the caller frees it in either case */
  int busy;             /* 1: the requested file was not used because it is being written */
  int kept;             /* 1: the requested file was not used because it is a profile, or because
			   its name was generated and it exists already */
  int created;          /* 1: the file was created */
  int folder;           /* PlaceWish.folder */
} Place;

/*
** Opens the file, and empties it unless wish->later is set. Returns 0, or an errno with a phrase
** in 'why', which is empty if the errno's text is sufficient. On failure has emptied no file.
*/
int place_open (const PlaceWish *wish, Place *place, char *why, size_t size);

/*
** Removes the file of place_open, for callers that cannot use it, if place_open created it, it is
** empty and place->fd is still open.
*/
void place_undo (const Place *place);

/*
** Returns 1 if 'path' is in a folder where all users may write but only owners may remove (PL3),
** and 'file' (its lstat: a symbolic link, for example) belongs neither to the effective user of
** this process nor to the folder's owner.
*/
int place_foreign (const char *path, const struct stat *file);

#endif
