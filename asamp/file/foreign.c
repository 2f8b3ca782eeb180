/* SPDX-License-Identifier: MIT */
/* Opens files whose paths another process supplied, and makes files for it (foreign.h). */
#define _GNU_SOURCE
#include "foreign.h"
#include "descriptor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOGROUP		65534

/* These numbers of system calls are the same on all processors. Headers before Linux 5.6 do not
   have them. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open		434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd		438
#endif

/* {== the other process ====================================================== */

/* Determines the effective user of a process. Returns 0 if /proc does not show it. */
static int userof (pid_t pid, uid_t *uid) {
  char path[64], text[1024], *line;
  snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
  descriptor_text(path, text, sizeof(text));
  line = strstr(text, "\nUid:");
  return line != NULL && sscanf(line, " Uid:%*u%u", uid) == 1;
}

int foreign_peer (int fd, ForeignPeer *peer) {
  struct ucred c;
  socklen_t n = sizeof(c);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0)
    return 0;
  peer->pid = c.pid;
  peer->uid = c.uid;
  if (c.uid == 0 && c.pid > 0)
    userof(c.pid, &peer->uid);
  return 1;
}

/* Returns 1 if descriptor 'n' of the process refers to 'file' and is open for reading or writing.
   (An O_PATH descriptor does not count, because opening it needs no rights on the file.) Examines a
   duplicate, because the process may replace the original. */
static int isopen (int process, int n, const struct stat *file) {
  struct stat s;
  int fd = (int)syscall(SYS_pidfd_getfd, process, n, 0);
  int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
  int is = flags >= 0 && (flags & O_PATH) == 0 && fstat(fd, &s) == 0 &&
           s.st_dev == file->st_dev && s.st_ino == file->st_ino;
  if (fd >= 0)
    close(fd);
  return is;
}

/* Returns 1 if the process peer->pid has the file open. Returns 0 if the process has ended and
   another user's process has this id now, and before Linux 5.6, which lacks pidfd_getfd. */
static int hasopen (const ForeignPeer *peer, const struct stat *file) {
  char path[64];
  const struct dirent *entry;
  uid_t now;
  int process = peer->pid > 0 ? (int)syscall(SYS_pidfd_open, peer->pid, 0) : -1;
  int has = 0;
  DIR *d = NULL;
  if (process >= 0 && userof(peer->pid, &now) && now == peer->uid) {
    snprintf(path, sizeof(path), "/proc/%ld/fd", (long)peer->pid);
    d = opendir(path);
  }
  while (d != NULL && !has && (entry = readdir(d)) != NULL)
    has = isdigit((unsigned char)entry->d_name[0]) && isopen(process, atoi(entry->d_name), file);
  if (d != NULL)
    closedir(d);
  if (process >= 0)
    close(process);
  return has;
}

/* }========================================================================= */

/* {== opening ================================================================ */

static const char *foreign_kindof (mode_t mode) {
  return S_ISFIFO(mode) ? "a pipe (FIFO)" : S_ISDIR(mode) ? "a folder" : S_ISSOCK(mode) ? "a socket"
       : S_ISLNK(mode) ? "a symbolic link" : "a device";
}

/* Returns 1 if the file may be opened although 'peer' supplied its path: 'peer' is NULL or a
   process of this user, or the file belongs to the user of 'peer' or is open in 'peer'. */
static int maybe (const ForeignPeer *peer, const struct stat *file) {
  return peer == NULL || peer->uid == geteuid() || peer->uid == file->st_uid || hasopen(peer, file);
}

int foreign_open (const char *path, const ForeignPeer *peer, char *why, size_t size) {
  struct stat named, file;
  int fd;
  if (lstat(path, &named) != 0) {
    snprintf(why, size, "%s", strerror(errno));
    return -1;
  }
  if (!S_ISREG(named.st_mode)) {
    snprintf(why, size, "the path is that of %s, not of a regular file; give another path",
             foreign_kindof(named.st_mode));
    return -1;
  }
  if (!maybe(peer, &named)) {
    snprintf(why, size, "the file does not belong to the user of the process (user id %lu), and "
                        "the process does not have it open; give another path",
             (unsigned long)peer->uid);
    return -1;
  }
  fd = descriptor_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) {
    snprintf(why, size, "%s", strerror(errno));
    return -1;
  }
  if (fstat(fd, &file) == 0 && file.st_dev == named.st_dev && file.st_ino == named.st_ino &&
      S_ISREG(file.st_mode) && maybe(peer, &file))
    return fd;
  close(fd);
  snprintf(why, size, "the file was replaced while it was opened; try again");
  return -1;
}

/* }========================================================================= */

/* {== the rights of another user ============================================== */

/* The rights before foreign_take. 'changed' 1: foreign_take has changed them. */
typedef struct Rights {
  int changed;
  int ngroups;
  gid_t *groups;
  uid_t uid;
  gid_t gid;
} Rights;

static void restore (Rights *before) {
  int e = errno;
  if (before->changed) {
    setfsuid(before->uid);
    setfsgid(before->gid);
    setgroups((size_t)before->ngroups, before->groups);
  }
  free(before->groups);
  errno = e;
}

/* If this process runs as root, sets its rights on files to those of user 'uid', until
   restore(before). Does nothing if it runs as another user. On failure, returns 0 with errno and
   does not change the rights. */
static int foreign_take (uid_t uid, Rights *before) {
  memset(before, 0, sizeof(*before));
  if (geteuid() != 0 || uid == 0)
    return 1;
  before->ngroups = getgroups(0, NULL);
  before->groups = calloc((size_t)before->ngroups + 1, sizeof(gid_t));
  if (before->groups == NULL || getgroups(before->ngroups, before->groups) != before->ngroups ||
      setgroups(0, NULL) != 0) {
    free(before->groups);
    return 0;
  }
  before->changed = 1;
  before->gid = (gid_t)setfsgid(NOGROUP);
  before->uid = (uid_t)setfsuid(uid);
  if ((uid_t)setfsuid((uid_t)-1) == uid)
    return 1;
  errno = EPERM;
  restore(before);
  return 0;
}

int foreign_folder (char *path, uid_t uid) {
  Rights before;
  int error;
  if (!foreign_take(uid, &before))
    return errno;
  error = mkdtemp(path) != NULL ? 0 : errno;
  restore(&before);
  return error;
}

void foreign_discard (const char *path, uid_t uid) {
  Rights before;
  const struct dirent *entry;
  int fd;
  DIR *d;
  if (!foreign_take(uid, &before))
    return;
  fd = descriptor_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  d = fd >= 0 ? fdopendir(fd) : NULL;
  while (d != NULL && (entry = readdir(d)) != NULL)
    unlinkat(fd, entry->d_name, 0);  /* fails for "." and ".." */
  if (d != NULL)
    closedir(d);
  else if (fd >= 0)
    close(fd);
  rmdir(path);
  restore(&before);
}

void foreign_unlink (const char *path, uid_t uid) {
  Rights before;
  struct stat s;
  if (!foreign_take(uid, &before))
    return;
  if (lstat(path, &s) == 0 && S_ISSOCK(s.st_mode))
    unlink(path);
  restore(&before);
}

/* }========================================================================= */
