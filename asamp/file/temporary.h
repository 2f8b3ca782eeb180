/* SPDX-License-Identifier: MIT */
/*
** Files that have a temporary name until they are complete, and are removed if SIGINT, SIGTERM or
** SIGHUP ends the process before.
**
** Owns the list of these files and, while the list is not empty, the handlers of these signals;
** SIGXFSZ is ignored meanwhile, so that the write fails instead. Used by one thread.
** Invariants:
**
**   TM1  an action is installed only in place of the system's default, which would end the
**        process, and removed with the last file. A process that receives one of these signals
**        (except SIGXFSZ) still ends with it, after the files are removed;
**   TM2  the list changes only while these signals are blocked; a name in it is freed only after
**        its file has left the list;
**   TM3  a file is created under a name that cannot be guessed and did not exist. Only its
**        owner can read it (0600), until temporary_end gives it mode, group and owner of the file
**        that it replaces, as far as the system allows;
**   TM4  if 'path' is a symbolic link, its target is replaced and the link stays (unless
**        place.h calls the link foreign: that is an error);
**   TM5  a kept file and then its name are on disk when temporary_end returns, if the file system
**        supports fsync.
**
** SIGKILL, a crash or any other signal leaves files named FILE.PID.NUMBER.tmp.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* NULL: none */
  char *target;             /* final name */
  int fd;                   /* of the file, for writing */
  struct Temporary *next;
} Temporary;

/* Creates a file in the folder of 'path', or of its target (TM4). Returns 0 or an errno. */
int temporary_start (Temporary *t, const char *path);
/*
** Closes the file and renames it to its final name; if 'keep' is 0, or any step fails, removes it.
** Returns 0 or an errno. Without a successful temporary_start does nothing and returns 0.
*/
int temporary_end (Temporary *t, int keep);

#endif
