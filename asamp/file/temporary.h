/* SPDX-License-Identifier: MIT */
/*
** Manages files that have a temporary name until they are complete. If SIGINT, SIGTERM or SIGHUP
** ends the process before that, they are removed.
**
** Owns the list of these files. While the list is not empty, it also owns the handlers of these
** signals, and ignores SIGXFSZ, so that a write beyond the size limit fails instead of ending the
** process. Used by one thread. Invariants:
**
**   TM1  a handler is installed only in place of the system's default action, which would end the
**        process, and removed with the last file. A process that receives one of these signals
**        (except SIGXFSZ) still ends by it, after the files are removed;
**   TM2  the list changes only while these signals are blocked. A name is freed only after its
**        file has left the list;
**   TM3  a file is created under a new name that cannot be guessed. Only its owner can read it
**        (0600). If it replaces a file, temporary_end gives it the mode, group and owner of that
**        file, as far as the system allows;
**   TM4  if 'path' is a symbolic link, its target is replaced and the link stays. It is an error
**        if place.h calls the link foreign;
**   TM5  when temporary_end returns, a kept file and its name are on disk, in this order, if the
**        file system supports fsync;
**   TM6  a profile or snapshot that is being written, and therefore locked (PL4 of place.h), is not
**        replaced: temporary_start returns ETXTBSY. Any other file has a shared lock until
**        temporary_end, so that no process starts to write it meanwhile.
**
** SIGKILL, a crash or any other signal leaves files named FILE.PID.NUMBER.tmp.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* temporary name of the file; NULL: there is no file */
  char *target;             /* name that the file has when it is complete */
  int fd;                   /* descriptor of the file, for writing */
  int replaced;             /* descriptor of the file that will be replaced, which has a shared lock
			       until then (TM6); -1: none */
  struct Temporary *next;
} Temporary;

/* Creates a temporary file in the folder of 'path' or, if 'path' is a symbolic link, of its target
   (TM4). 'locked' is 1 if the caller has locked the file at 'path'. Returns 0 or an errno. */
int temporary_start (Temporary *t, const char *path, int locked);
/* Returns the reason for an errno of the functions here, with a remedy for ETXTBSY. */
const char *temporary_reason (int error);
/*
** Closes the file and renames it to its final name. If 'keep' is 0, or if any step fails, removes
** it instead. Returns 0 or an errno. If temporary_start was not called or has failed, does nothing
** and returns 0.
*/
int temporary_end (Temporary *t, int keep);

/*
** The steps of the functions above, for callers that must not install signal handlers. They do not
** change the list, and may be called by any thread.
**
** temporary_target returns the path of the file to which 'path' leads (TM4): a copy of 'path', or
** the target of a chain of symbolic links, whether it exists or not. The caller frees it. Returns
** NULL with errno on failure.
**
** temporary_create creates a file in the folder of 'target' (TM3): sets *name, which the caller
** frees, and *fd. Returns 0, or an errno with *name NULL and *fd unchanged.
**
** temporary_imitate gives the file the mode, owner and group of the regular file 'target', if there
** is one. If owner and group cannot both be changed, changes the group alone. If that fails too,
** the file gives no rights to its group. Returns 0 or an errno.
*/
char *temporary_target (const char *path);
int temporary_create (const char *target, char **name, int *fd);
int temporary_imitate (int fd, const char *target);

#endif
