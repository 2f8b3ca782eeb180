/* SPDX-License-Identifier: MIT */
/*
** Files with a temporary name until they are complete, which are removed if a signal ends the
** process before.
**
** Owns the list of these files and, while it is not empty, the handlers of SIGINT, SIGTERM and
** SIGHUP; SIGXFSZ is ignored meanwhile, so that the write fails instead. Used by one thread.
** Invariants:
**
**   TM1  an action is installed only in place of the system's default, which would end the
**        process, and removed with the last file. A process that receives one of these signals
**        (except SIGXFSZ) still ends with it, after the files are removed;
**   TM2  the list changes only while these signals are blocked; a name in it is freed only after
**        its file has left the list;
**   TM3  a file is created under a name that cannot be guessed and did not exist. Only its
**        owner can read it (0600), or it receives mode and owner of the file that it replaces;
**   TM4  if 'path' is a symbolic link, its target is replaced and the link stays (unless
**        place.h calls the link foreign: that is an error);
**   TM5  the file and then its name are on disk when temporary_end returns.
**
** SIGKILL leaves files named FILE.PID.NUMBER.tmp.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* NULL: none */
  char *target;             /* final name */
  int fd;                   /* of the file, for writing */
  struct Temporary *next;
} Temporary;

/* Creates a file in the folder of the one to be replaced. Returns 0 or an errno. */
int temporary_start (Temporary *t, const char *path);
/*
** Closes the file and renames it to its final name; if 'keep' is 0, or any step fails, removes it.
** Returns 0 or an errno. Does nothing without temporary_start.
*/
int temporary_end (Temporary *t, int keep);

#endif
