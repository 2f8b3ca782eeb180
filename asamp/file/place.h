/* SPDX-License-Identifier: MIT */
/*
** Finds and opens the file for a profile's path, without loss of data.
**
**   PL1  a nonempty file is emptied only if it may be replaced (PLACE_PROFILES: profiles and heap
**        snapshots; PLACE_ALL: any) and is not being written. Else the next free numbered name is
**        used (app.2.vmprof) for a profile, snapshot or generated name; any other file is an
**        error;
**   PL2  a new file has mode 0600; an existing one keeps its mode;
**   PL3  a generated name can be guessed: it is not followed if it is a link, and an existing file
**        must be this user's. Other names: in a folder where all may write, a link of a user other
**        than this one and the folder's owner is not followed, nor such a regular file used if the
**        folder is sticky (/tmp);
**   PL4  a regular file is locked (flock) while it is open, so that two sessions never share one.
**        Pipes and /dev/null are used as they are.
*/
#ifndef asamp_place_h
#define asamp_place_h

#include <stddef.h>
#include <sys/stat.h>

enum { PLACE_NONE, PLACE_PROFILES, PLACE_ALL };  /* existing files that may be replaced (PL1) */

/* Most names tried for one path. */
#define PLACE_MOST	9999

typedef struct PlaceWish {
  const char *path;
  unsigned number;      /* first number tried; 0 and 1: none */
  int made;             /* 1: a generated name (PL3) */
  int replace;          /* PLACE_NONE, PLACE_PROFILES or PLACE_ALL */
  /* Returns 1 if this process already writes that file. NULL: it does not. */
  int (*taken) (const struct stat *file);
  /* 1: the caller empties a replaced file later, which may take long. */
  int later;
  int folder;           /* descriptor of the folder of 'path', if its name cannot be reached any
                           more; 0: none */
  /* Message if the file may not be replaced, after its kind. NULL: one for profiles. */
  const char *refusal;
} PlaceWish;

typedef struct Place {
  int fd;               /* for writing; -1: none */
  char *path;           /* path opened or tried last; the caller frees it in any case */
  int busy;             /* 1: the requested file is being written */
  int kept;             /* 1: the requested file may not be replaced */
  int created;          /* 1: the file was created */
  int folder;           /* PlaceWish.folder */
} Place;

/* Opens the file, and empties it unless wish->later. Returns 0, or an errno with a phrase in
   'why', which may be empty. */
int place_open (const PlaceWish *wish, Place *place, char *why, size_t size);

/* Removes a file that place_open has created, if it is still empty and open. */
void place_undo (const Place *place);

/* Opens a file again whose descriptor the program has closed, by its path or in 'folder' (as in
   PlaceWish), and locks it. Returns a descriptor for writing, never 0 to 2. Returns -1 if this is
   another file than that of 'device' and 'inode', or if another process has locked it. */
int place_again (const char *path, int folder, dev_t device, ino_t inode);

/* Returns 1 if PL3 forbids a file under any name: all may write in its folder, and its owner is
   neither this user nor the folder's owner. 'file' is from lstat. */
int place_foreign (const char *path, const struct stat *file);

#endif
