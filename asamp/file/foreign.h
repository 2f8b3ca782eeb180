/* SPDX-License-Identifier: MIT */
/*
** Opens files whose paths another process supplied, and makes files for that process, which may
** deceive: the path may lead to a pipe that blocks its reader, or to a file that only the user of
** this process may read. Invariants:
**
**   UF1  only regular files are opened, and no symbolic links: the name is checked first,
**        because opening alone affects a pipe, and the descriptor must then have the same
**        device and inode;
**   UF2  if the other process belongs to another user, the file must belong to that user, or the
**        other process must have the file open, as a process that changed its user after it had
**        opened its profile;
**   UF3  root makes and removes files for a process of another user with the rights of that
**        user: no name that the user changes meanwhile can lead to another file.
*/
#ifndef asamp_foreign_h
#define asamp_foreign_h

#include <stddef.h>
#include <sys/types.h>

/* The process at the other end of a Unix socket. */
typedef struct ForeignPeer {
  pid_t pid;		/* 0: unknown, as in another PID namespace */
  uid_t uid;		/* its present user (foreign_peer) */
} ForeignPeer;

/*
** Determines the process that listens at the other end of the connected socket. The system
** reports the user that the process had when it called listen; if that was root, stores the
** process's present user, if the system shows it. Returns 0 with errno on failure.
*/
int foreign_peer (int fd, ForeignPeer *peer);

/*
** Opens the file for reading (UF1); 'peer' NULL: without UF2. Returns a descriptor, or -1 with
** the reason in 'why'.
*/
int foreign_open (const char *path, const ForeignPeer *peer, char *why, size_t size);

/* Makes a folder of mode 0700 by a template of mkdtemp (UF3). Returns 0 or an errno. */
int foreign_folder (char *path, uid_t uid);

/* Removes a folder made by foreign_folder and the files in it (UF3), but no subfolders. */
void foreign_discard (const char *path, uid_t uid);

/* Removes a socket, but no other file (UF3). */
void foreign_unlink (const char *path, uid_t uid);

#endif
