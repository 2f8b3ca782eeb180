/* SPDX-License-Identifier: MIT */
/*
** Files that have a temporary name (FILE.PID.NUMBER.tmp) until they are complete. An incomplete
** file is removed if SIGINT, SIGTERM or SIGHUP ends the process. Used by one thread.
**
**   TM1  handlers for SIGINT, SIGTERM and SIGHUP replace only default actions, and are removed with
**        the last temporary file. The process still ends by the signal. SIGXFSZ is ignored, so that
**        writes fail instead;
**   TM2  the list of temporary files changes only while the signals of TM1 are blocked;
**   TM3  a file is created with mode 0600 under a name that cannot be guessed. temporary_end gives
**        it mode, group and owner of the file that it replaces, if possible;
**   TM4  the target of a symbolic link is replaced, not the link. A link that another user may have
**        made to deceive (place_foreign) is an error;
**   TM5  temporary_end returns when the file, and then its name, are on disk (fsync);
**   TM6  a file that is locked because a profile or snapshot is being written to it is not replaced
**        (ETXTBSY). Any other file to be replaced has a shared lock until temporary_end, so that no
**        session starts to write it.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* path of the temporary file; NULL: there is none */
  char *target;             /* path that temporary_end gives to the file */
  int fd;                   /* descriptor of the file, for writing */
  int replaced;             /* descriptor of the file to be replaced, with a shared lock; -1:
                               none */
  struct Temporary *next;
} Temporary;

/* Creates a temporary file for the file to which 'path' leads through links, in the folder of that
   file. Returns 0 or an errno. */
int temporary_start (Temporary *t, const char *path);
/* Returns the text for an errno that a function of this file has returned. */
const char *temporary_reason (int error);
/* Closes the file. If 'keep' is not 0 and nothing fails, gives the file its final name; otherwise
   removes it. Returns 0 or an errno. */
int temporary_end (Temporary *t, int keep);

/* Returns the path of the file to which 'path' leads through links; the caller frees it. Returns
   NULL with errno on failure. This function, temporary_create and temporary_imitate are
   thread-safe, because they install no signal handlers. */
char *temporary_target (const char *path);
/* Creates a file with a temporary name in the folder of 'target'. Sets *name, which the caller
   frees, and *fd. Returns 0 or an errno. */
int temporary_create (const char *target, char **name, int *fd);
/* Gives a file the mode, owner and group of the regular file 'target', as far as possible. If the
   group cannot be set, the file's group has no rights. Returns 0 or an errno. */
int temporary_imitate (int fd, const char *target);

#endif
