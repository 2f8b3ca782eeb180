/* SPDX-License-Identifier: MIT */
/* The control socket (server.h). */
#define _GNU_SOURCE
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptor.h"

/* Protects 'held'. Locked during a fork, so that the child never sees an incomplete change. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
/* The list of descriptors: the control socket and its connections, with device and inode. */
static struct Held {
  int fd;
  dev_t device;
  ino_t inode;
} held[SERVER_CLIENTS + 1];
static size_t nheld;
static struct stat own;		/* device and inode of the socket that this process made last; all
                                   zero: none */

/* Returns 1 if h->fd still refers to the file recorded in *h. */
static int isstill (const struct Held *h) {
  struct stat s;
  return fstat(h->fd, &s) == 0 && s.st_dev == h->device && s.st_ino == h->inode;
}

/* Returns the element of 'held' for the descriptor 'fd', or NULL. 'opening' is locked. */
static struct Held *server_find (int fd) {
  size_t i;
  for (i = 0; i < nheld && held[i].fd != fd; i++) ;
  return (i < nheld) ? &held[i] : NULL;
}

/* Records the descriptor fd in 'held' if fd is not negative. Returns fd. Replaces an element with
   the same number, because that descriptor was closed. 'opening' is locked. */
static int holdfd (int fd) {
  struct stat s;
  struct Held *h = server_find(fd);
  if (fd >= 0 && fstat(fd, &s) == 0)
    *(h != NULL ? h : &held[nheld++]) = (struct Held){fd, s.st_dev, s.st_ino};
  return fd;
}

int server_has (int fd) {
  const struct Held *h;
  int has;
  pthread_mutex_lock(&opening);
  h = server_find(fd);
  has = (h != NULL && isstill(h));
  pthread_mutex_unlock(&opening);
  return has;
}

void server_close (int fd) {
  struct Held *h;
  pthread_mutex_lock(&opening);
  h = server_find(fd);
  if (h != NULL) {
    if (isstill(h)) close(fd);
    *h = held[--nheld];
  }
  pthread_mutex_unlock(&opening);
}

/* Checks the folder of 'path', its owner and its rights. 'create' 1: creates the folder if it is
   missing. Returns NULL, or the reason why the folder cannot be used; "": errno has the reason. */
static const char *server_folderof (const char *path, int create) {
  char folder[PATH_MAX];
  char *slash;
  struct stat s;
  snprintf(folder, sizeof(folder), "%s", path);
  slash = strrchr(folder, '/');
  if (slash == NULL) strcpy(folder, ".");
  else slash[slash == folder] = '\0';
  if (create && mkdir(folder, 0700) != 0 && errno != EEXIST && errno != ENOENT) return "";
  if (lstat(folder, &s) != 0)
    return errno != ENOENT ? ""
           : "the folder of the socket does not exist; create the folder (mkdir -m 700), or give "
             "another path";
  if (!S_ISDIR(s.st_mode)) return "the path leads through a file or a symbolic link instead of a "
                                  "folder; give another path";
  if (s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
    return "the folder of the socket belongs to another user, or other users may write there; give "
           "a path in a folder of your own";
  return NULL;
}

/* Returns 1 if no process listens at the socket. Does not wait: returns 0 if a process listens but
   the socket's backlog is full. */
static int isdead (const struct sockaddr_un *a) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int dead = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) != 0 &&
             errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return dead;
}

/* Returns 1 if the file is the socket that this process made last. */
static int isown (const struct stat *s) {
  return s->st_ino != 0 && s->st_dev == own.st_dev && s->st_ino == own.st_ino;
}

void server_unlink (const char *path) {
  struct stat s;
  if (lstat(path, &s) == 0 && isown(&s)) unlink(path);
}

/* Removes the socket's file with the address 'a' if no process listens at the socket. Also removes
   the file that this process made last, at which a forked child may still listen. */
static void makeroom (const struct sockaddr_un *a) {
  struct stat s;
  if (lstat(a->sun_path, &s) != 0 || !S_ISSOCK(s.st_mode)) return;
  if (isown(&s) || isdead(a)) unlink(a->sun_path);
}

/* Returns 1 if the process has ended, also if it is a zombie. */
static int isgone (pid_t pid) {
  char text[256], *end;
  if (kill(pid, 0) != 0 && errno == ESRCH) return 1;
  snprintf(text, sizeof(text), "/proc/%ld/stat", (long)pid);
  descriptor_text(text, text, sizeof(text));  /* the text is "ID (NAME) STATE ..." */
  end = strrchr(text, ')');
  return end != NULL && (strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0);
}

/* Removes the socket NUMBER.sock if it has no listener and process NUMBER has ended. */
static void sweepone (const char *folder, const char *name) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  struct stat s;
  char *end;
  long n = strtol(name, &end, 10);
  if (n <= 0 || strcmp(end, ".sock") != 0 || !isgone((pid_t)n) ||
      snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", folder, name) >= (int)sizeof(a.sun_path))
    return;
  if (lstat(a.sun_path, &s) == 0 && S_ISSOCK(s.st_mode) && s.st_uid == geteuid() && isdead(&a))
    unlink(a.sun_path);
}

void server_sweep (const char *path) {
  const char *slash = strrchr(path, '/');
  char folder[PATH_MAX];
  struct dirent *entry;
  DIR *d;
  if (slash == NULL || server_folderof(path, 1) != NULL) return;
  snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
  descriptor_hold();
  d = opendir(folder);
  while (d != NULL && (entry = readdir(d)) != NULL) sweepone(folder, entry->d_name);
  if (d != NULL) closedir(d);
  descriptor_release();
}

/* Writes to 'why' the text of 'error' and what to do. 'error' is the errno of a failure to create
   the socket at its path. */
static void pathfailed (int error, char *why, size_t size) {
  snprintf(why, size, "%s%s", strerror(error), error != EADDRINUSE
           ? "; give another path, or leave the option 'listen' out"
           : "; another file or process uses this path: put %p, the process id, into the path");
}

int server_open (const char *path, int create, char *why, size_t size) {
  struct sockaddr_un a;
  const char *wrong;
  int fd, error = EINVAL;
  memset(&a, 0, sizeof(a));
  a.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(a.sun_path)) {
    snprintf(why, size, "the path of the socket has over 107 bytes; give a shorter path");
    errno = error;
    return -1;
  }
  strcpy(a.sun_path, path);
  if ((wrong = server_folderof(path, create)) != NULL) {
    if (*wrong != '\0') snprintf(why, size, "%s", wrong);
    else pathfailed(errno, why, size);
    errno = error;
    return -1;
  }
  descriptor_hold();
  makeroom(&a);
  pthread_mutex_lock(&opening);
  fd = holdfd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  pthread_mutex_unlock(&opening);
  descriptor_release();
  if (fd < 0 && errno != EMFILE && errno != ENFILE)
    snprintf(why, size, "the system refuses Unix sockets to this process: %s; permit them in "
             "its filter (seccomp, RestrictAddressFamilies), or leave the option 'listen' out",
             strerror(errno));
  else if (fd < 0 || !descriptor_spare(fd, 0)) {
    descriptor_few(why, size);
    error = EMFILE;
  }
  else if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 &&
           listen(fd, 16) == 0) {
    if (lstat(path, &own) != 0) memset(&own, 0, sizeof(own));
    return fd;
  }
  else pathfailed(errno, why, size);
  if (fd >= 0) server_close(fd);
  errno = error;
  return -1;
}

/* Returns 1 if the client runs as this user or as root. */
static int isfriend (int fd) {
  struct ucred c;
  socklen_t n = sizeof(c);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0 &&
         (c.uid == geteuid() || c.uid == 0);
}

int server_accept (int server) {
  const struct Held *h;
  int fd;
  descriptor_hold();
  pthread_mutex_lock(&opening);
  h = server_find(server);
  fd = (h != NULL && isstill(h)) ? holdfd(accept4(server, NULL, NULL, SOCK_CLOEXEC)) : -1;
  pthread_mutex_unlock(&opening);
  descriptor_release();
  if (fd < 0 || isfriend(fd)) return fd;
  server_close(fd);
  return -1;
}

void server_forking (void) {
  pthread_mutex_lock(&opening);
}

void server_parted (void) {
  pthread_mutex_unlock(&opening);
}

void server_forked (void) {
  pthread_mutex_unlock(&opening);
  memset(&own, 0, sizeof(own));  /* the socket's file belongs to the parent */
  while (nheld > 0)
    if (isstill(&held[--nheld])) close(held[nheld].fd);
}
