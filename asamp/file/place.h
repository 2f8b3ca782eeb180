/* SPDX-License-Identifier: MIT */
/*
** Finds and opens the file for a profile's path, without loss of data.
**
**   PL1  a nonempty file is emptied only if it is not being written and may be replaced
**        (PLACE_PROFILES: profiles and heap snapshots; PLACE_ALL: any). Otherwise, the next free
**        numbered name (app.2.vmprof) is used if the file is being written, is a profile or
**        snapshot, or has a generated name. In all other cases, opening fails;
**   PL2  a new file has mode 0600; an existing one keeps its mode;
**   PL3  other users can guess a generated name: a link with that name is not followed, and an
**        existing file must belong to this user. If the user chose the name, but all users may
**        write in the folder, a link must belong to this user or to the folder's owner. So must a
**        regular file if the folder is sticky, as /tmp is;
**   PL4  a regular file is locked (flock) while it is open, so that two sessions never share one.
**        Pipes and /dev/null are used as they are.
*/
#ifndef asamp_place_h
#define asamp_place_h

#include <stddef.h>
#include <sys/stat.h>

enum { PLACE_NONE, PLACE_PROFILES, PLACE_ALL };  /* which existing files may be replaced (PL1) */

/* Maximum number of names tried for one path. */
#define PLACE_MOST	9999

typedef struct PlaceWish {
  const char *path;
  unsigned number;      /* number in the first name tried, as in app.2.vmprof; 0 or 1: the name
                           has none */
  int made;             /* 1: 'path' is a generated name, not one that the user chose */
  int replace;          /* PLACE_NONE, PLACE_PROFILES or PLACE_ALL */
  /* Returns 1 if this process already writes 'file'. NULL: this process writes no file. */
  int (*taken) (const struct stat *file);
  /* 1: place_open does not empty a file that it replaces, because that may take long. The caller
     empties the file. */
  int later;
  int folder;           /* descriptor of the folder of 'path', for a program that cannot open the
                           folder by its name any more; 0: the name is used */
  /* End of the error message if the file may not be replaced. It follows the name of the file's
     type, such as "a text file". NULL: a text that suggests another path, or the option "overwrite"
     of profiles. */
  const char *refusal;
} PlaceWish;

typedef struct Place {
  int fd;               /* descriptor for writing; -1: none */
  char *path;           /* path opened or tried last; the caller frees it in any case */
  int busy;             /* 1: the requested file was not used, because it is locked by its writer */
  int kept;             /* 1: the requested file was not used, because it may not be replaced */
  int created;          /* 1: place_open has created the file */
  int folder;           /* PlaceWish.folder */
} Place;

/* Opens the file, and empties it unless wish->later is 1. Returns 0 or an errno. After an errno,
   'why' is the reason as a phrase, or "" if the text of the errno is the reason. */
int place_open (const PlaceWish *wish, Place *place, char *why, size_t size);

/* Removes a file that place_open has created, if it is still empty and open. */
void place_undo (const Place *place);

/* Opens a file again after the program has closed its descriptor, and locks it. 'device' and
   'inode' identify the file. 'folder': descriptor of the folder of 'path'; 0: none. Returns a
   descriptor for writing, never 0 to 2. Returns -1 if the path now leads to another file, or if
   another process has locked the file. */
int place_again (const char *path, int folder, dev_t device, ino_t inode);

/* Returns 1 if an existing file must not be replaced even if the user chose its name, such as
   another user's file in /tmp. 'file': status of the file, from lstat. */
int place_foreign (const char *path, const struct stat *file);

#endif
