/* SPDX-License-Identifier: MIT */
/*
** Where a profile goes: finds the file that a path stands for, so that nothing
** is lost. Knows no profile's contents but by filekind.h. Rules:
**   PL1  a file with anything in it is emptied only if the caller may replace it: a profile
**        of ours (PLACE_PROFILES) or any regular file (PLACE_ALL), and even these not while
**        somebody writes them. A profile that may not be replaced has the next free
**        numbered name taken (app.vmprof, app.2.vmprof, ...); anything else is an error;
**   PL2  a file that is made is its owner's alone (0600), for profiles hold
**        arguments and paths; one that is there keeps its mode;
**   PL3  names that were made up, which anybody may guess, are never followed
**        when they are symbolic links, and nothing that is there is used but
**        what is to be replaced. In a folder that all may write and where only
**        owners may remove (/tmp), what another user has put there is neither
**        followed nor used, whatever its name;
**   PL4  a regular file is locked (flock) from here on. Two sessions, of whatever
**        processes, never have one file, but on file systems without locks.
** What is no regular file (a pipe, /dev/null) is used as it is.
*/
#ifndef asamp_place_h
#define asamp_place_h

#include <stddef.h>
#include <sys/stat.h>

enum { PLACE_NONE, PLACE_PROFILES, PLACE_ALL };  /* what may be replaced */

/* The highest number of a name that is tried. */
#define PLACE_MOST	9999

typedef struct PlaceWish {
  const char *path;
  unsigned number;      /* the first that is tried; 0 and 1: none in the name */
  int made;             /* 1: the name was made up (PL3) */
  int replace;          /* PLACE_NONE, ... */
  /* Does this process write that file already? NULL: it does not. */
  int (*taken) (const struct stat *file);
  int later;            /* the caller empties what is replaced: with a large file that
                           takes longer than all else */
  int folder;           /* descriptor of the folder that 'path' is in, for who cannot get
                           there by its name any more (chroot); 0: none */
  const char *refusal;  /* what is said behind "a text file"; NULL: what a profile is told,
                           whose user has the option overwrite */
} PlaceWish;

typedef struct Place {
  int fd;               /* for writing, not 0 to 2; -1: none */
  char *path;           /* what was opened; the caller's to free */
  int busy;             /* the path asked for was not taken, because it is being
                           written; */
  int kept;             /* ... because it is a profile */
  int created;          /* the file was not there */
  int folder;           /* as that of the wish */
} Place;

/*
** Opens the file and, unless 'later', empties it. Returns 0, or an errno, and in 'why' a
** phrase, which is empty where that of the errno says it. After an error nothing was emptied.
*/
int place_open (const PlaceWish *wish, Place *place, char *why, size_t size);

/*
** Removes the file again, if it was made here, nothing is in it and its descriptor is
** open still: for who can do nothing with it.
*/
void place_undo (const Place *place);

/*
** Is that name (a symbolic link, say) in a folder that all may write, and of
** another user than this process's and than the folder's?
*/
int place_foreign (const char *path, const struct stat *file);

#endif
