/* SPDX-License-Identifier: MIT */
/*
** Files that have another name until they are whole, and go when a signal ends
** the process before.
**
** Owns the list of these files and, while there is one, the handlers of
** SIGINT, SIGTERM and SIGHUP. Used by one thread. Invariants:
**   TM1  a handler is set only where the system's default would end the
**        process, and taken away with the last file; the process ends by the
**        signal that it got;
**   TM2  the list changes only while these signals are blocked, and every
**        name in it stays until it has left it.
** What SIGKILL leaves behind is FILE.PID.tmp.
*/
#ifndef asamp_temporary_h
#define asamp_temporary_h

typedef struct Temporary {
  char *name;               /* NULL: none */
  struct Temporary *next;
} Temporary;

/* Names a file beside 'path', which may now be made. 0 without memory. */
int temporary_begin (Temporary *t, const char *path);
/*
** Gives the file its name 'path', or removes it (NULL, or where it cannot be
** renamed). Returns 0 or an errno. Without temporary_begin: does nothing.
*/
int temporary_end (Temporary *t, const char *path);

#endif
