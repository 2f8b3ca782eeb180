/* SPDX-License-Identifier: MIT */
/*
** Opens files whose paths another process supplied, and makes files for it. That process may
** deceive: a path may lead to a pipe that blocks, or to a file that only this user may read.
**
**   UF1  only regular files are opened, without following links. The type is checked first, because
**        opening affects a pipe; the opened file must be the checked one;
**   UF2  a file that another user's process names must belong to that user, or be open in that
**        process (from Linux 5.6 on). The process may have opened the file before it changed its
**        user;
**   UF3  root makes and removes files of another user with that user's rights.
*/
#ifndef asamp_foreign_h
#define asamp_foreign_h

#include <stddef.h>
#include <sys/types.h>

/* The process at the other end of a socket. */
typedef struct ForeignPeer {
  pid_t pid;		/* 0: unknown */
  uid_t uid;		/* user of the process, as foreign_peer determines it */
} ForeignPeer;

/* Stores in *peer the process that listens at the other end of the connected socket 'fd'. peer->uid
   is the user of that process when it started to listen. Exception: if that user was root, and
   /proc shows the process, peer->uid is its present effective user. Returns 0 with errno on
   failure. */
int foreign_peer (int fd, ForeignPeer *peer);

/* Opens a regular file for reading, without following links. If 'peer' is a process of another
   user, the file must belong to that user or be open in that process. 'peer' NULL: any regular file
   is opened. Returns a descriptor, or -1 with the reason in 'why'. */
int foreign_open (const char *path, const ForeignPeer *peer, char *why, size_t size);

/* Makes a folder of mode 0700, with the rights of user 'uid'. 'path' is a template that ends with
   XXXXXX (mkdtemp), and receives the folder's path. Returns 0 or an errno. */
int foreign_folder (char *path, uid_t uid);

/* Removes a folder made by foreign_folder, with its files, with the rights of user 'uid'. */
void foreign_discard (const char *path, uid_t uid);

/* Removes the file if it is a socket, with the rights of user 'uid'. */
void foreign_unlink (const char *path, uid_t uid);

#endif
