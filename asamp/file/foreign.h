/* SPDX-License-Identifier: MIT */
/*
** Files that another process names, and files that are made for it. The process may lie: its path
** may lead to a pipe that blocks its reader, or to a file that only this process's user may read.
** Invariants:
**   UF1  only a regular file is opened, and no symbolic link: the name is checked first, since an
**        open alone changes a pipe, and the descriptor then has the same device and inode;
**   UF2  if the process is another user's, the file belongs to that user, or the process has it
**        open itself, as one that has opened its profile before it became another user;
**   UF3  what root makes or removes for a process of another user, it does with the rights of that
**        user: no name that the user changes meanwhile leads to anybody else's file.
*/
#ifndef asamp_foreign_h
#define asamp_foreign_h

#include <stddef.h>
#include <sys/types.h>

/* The process at the other end of a Unix socket. */
typedef struct ForeignPeer {
  pid_t pid;		/* 0: not known, as in another PID namespace */
  uid_t uid;		/* its user now; of one that was root when it started to listen, see below */
} ForeignPeer;

/*
** Returns who listens at the other end of the connected socket. The system reports the user that
** the process was when it called listen; a process that was root then may have become another user,
** and is that one. 0: errno has the reason.
*/
int foreign_peer (int fd, ForeignPeer *peer);

/*
** Opens the file for reading (UF1); 'peer' NULL: without UF2. Returns a descriptor; -1: 'why' has
** the reason.
*/
int foreign_open (const char *path, const ForeignPeer *peer, char *why, size_t size);

/* Makes a folder of mode 0700 by a template of mkdtemp (UF3). Returns 0 or an errno. */
int foreign_folder (char *path, uid_t uid);

/* Removes the files in a folder of foreign_folder, and the folder (UF3). */
void foreign_discard (const char *path, uid_t uid);

/* Removes a socket (UF3); nothing else. */
void foreign_unlink (const char *path, uid_t uid);

#endif
