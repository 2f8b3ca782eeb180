/* SPDX-License-Identifier: MIT */
/*
** Opens files whose paths another process supplied, and makes files for that process. The other
** process may try to deceive this one: a path may lead to a pipe that blocks its reader, or to a
** file that only the user of this process may read. Invariants:
**
**   UF1  only regular files are opened, and no symbolic links are followed. The name is checked
**        before it is opened, because opening alone affects a pipe. The opened file must then have
**        the same device and inode as the checked one;
**   UF2  if the other process belongs to another user, the file must belong to that user, or the
**        other process must have it open for reading or writing. The latter permits a process that
**        changed its user after it had opened its profile; it needs Linux 5.6;
**   UF3  if this process is root and the other process belongs to another user, files are made and
**        removed with the rights of that user. Then no name that the user changes meanwhile can
**        lead to a file of somebody else.
*/
#ifndef asamp_foreign_h
#define asamp_foreign_h

#include <stddef.h>
#include <sys/types.h>

/* The process at the other end of a Unix socket. */
typedef struct ForeignPeer {
  pid_t pid;		/* 0: unknown, as in another PID namespace */
  uid_t uid;		/* present user of the process (foreign_peer) */
} ForeignPeer;

/* Determines the process that listens at the other end of the connected socket. The system reports
   the user that it had when it called listen. If that was root, *peer has its present user instead,
   if the system shows it. Returns 0 with errno on failure. */
int foreign_peer (int fd, ForeignPeer *peer);

/*
** Opens a regular file for reading, without following links (UF1). Unless 'peer' is NULL, the file
** must belong to the user of 'peer' or be open in that process (UF2). Returns a descriptor, or -1
** with the reason in 'why'.
*/
int foreign_open (const char *path, const ForeignPeer *peer, char *why, size_t size);

/* Makes a folder of mode 0700, from a template of mkdtemp, with the rights of user 'uid' (UF3).
   Returns 0 or an errno. */
int foreign_folder (char *path, uid_t uid);

/* Removes a folder made by foreign_folder and the files in it, but no subfolders, with the rights
   of user 'uid' (UF3). */
void foreign_discard (const char *path, uid_t uid);

/* Removes a socket, but no other kind of file, with the rights of user 'uid' (UF3). */
void foreign_unlink (const char *path, uid_t uid);

#endif
