/* SPDX-License-Identifier: MIT */
/*
** Files that have another name until they are whole, and go when a signal ends
** the process before.
**
** Owns the list of these files and, while there is one, the handlers of
** SIGINT, SIGTERM and SIGHUP; SIGXFSZ is ignored meanwhile, so that the write fails.
** Used by one thread. Invariants:
**   TM1  a disposition is set only where the system's default would end the
**        process, and taken away with the last file; the process ends by the
**        signal that it got;
**   TM2  the list changes only while these signals are blocked, and every
**        name in it stays until it has left it.
**   TM3  a file is made under a name that nobody can guess, and that was not there;
**        it is its owner's alone (0600), or gets mode and owner of what it
**        replaces;
**   TM4  where 'path' is a symbolic link, what it names is replaced, and the link
**        stays (unless place.h calls it foreign: that is an error);
**   TM5  the file is on the disk, and then its name, when temporary_end returns.
** What SIGKILL leaves behind is FILE.PID.NUMBER.tmp.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* NULL: none */
  char *target;             /* what it will be called */
  int fd;                   /* of the file, for writing */
  struct Temporary *next;
} Temporary;

/*
** Makes a file beside what will be replaced. Returns 0 or an errno; then there is
** none.
*/
int temporary_begin (Temporary *t, const char *path);
/*
** Closes the file, and gives it its name; or removes it: keep 0, or where that
** fails. Returns 0 or an errno. Without temporary_begin: does nothing.
*/
int temporary_end (Temporary *t, int keep);

#endif
