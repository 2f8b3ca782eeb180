/* SPDX-License-Identifier: MIT */
/* Finds and opens a profile's file (place.h). */
#define _GNU_SOURCE
#include "place.h"
#include "descriptor.h"
#include "filekind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* LOCK_TRIES: number of attempts to lock a file. LOCK_NS: ns between two attempts. Together the
   attempts take longer than the time for which source_live locks a file that is being read. */
enum { LOCK_TRIES = 20, LOCK_NS = 2000000 };

/* Flags for opening. With O_NONBLOCK a pipe without a reader is an error. */
enum { WRITING = O_WRONLY | O_NONBLOCK, NEW = WRITING | O_CREAT | O_EXCL | O_NOFOLLOW };

/* Result of an attempt to open the file, in addition to 0 and errnos: the next numbered name must
   be tried. */
enum { NEXT = -1 };

typedef struct Attempt {
  const PlaceWish *wish;
  const char *path;
  Place *place;
  char *why;
  size_t size;
} Attempt;

/* Returns the path with a number, such as 'app.2.vmprof'; NULL if out of memory. */
static char *numbered (const char *path, unsigned number) {
  static const char *const endings[] = {".vmprof", ".vmprof.gz", ".heap", ""};
  size_t n = strlen(path), m, i;
  char *to = malloc(n + 16);
  if (to == NULL)
    return NULL;
  if (number <= 1)
    return memcpy(to, path, n + 1);
  for (i = 0; ; i++) {
    m = strlen(endings[i]);
    if (n > m && strcmp(path + n - m, endings[i]) == 0)
      break;
    if (m == 0)
      break;
  }
  sprintf(to, "%.*s.%u%s", (int)(n - m), path, number, endings[i]);
  return to;
}

/* A file for openat: a folder's descriptor and a name. */
typedef struct Where {
  int folder;
  const char *name;
} Where;

static Where whereis (int folder, const char *path) {
  const char *slash = strrchr(path, '/');
  const Where byname = {AT_FDCWD, path}, infolder = {folder, slash != NULL ? slash + 1 : path};
  return folder > 0 ? infolder : byname;
}

/* Stores the status of the folder of 'path'. Returns 0 on failure. */
static int place_folderof (const char *path, struct stat *folder) {
  const char *slash = strrchr(path, '/');
  char *name;
  int ok;
  if (slash == NULL)
    return stat(".", folder) == 0;
  name = strndup(path, (size_t)(slash - path) + 1);
  ok = name != NULL && stat(name, folder) == 0;
  free(name);
  return ok;
}

/* Returns 1 if another user may have put the file into the folder to deceive: every user may write
   in the folder, and the file's owner is not the folder's. In a folder without the sticky bit,
   returns 1 only for a link, because users may share regular files there. */
static int place_distrusts (const struct stat *folder, const struct stat *file) {
  return (folder->st_mode & S_IWOTH) && file->st_uid != folder->st_uid &&
         ((folder->st_mode & S_ISVTX) || S_ISLNK(file->st_mode));
}

int place_foreign (const char *path, const struct stat *file) {
  struct stat folder;
  return file->st_uid != geteuid() && place_folderof(path, &folder) &&
         place_distrusts(&folder, file);
}

/* Returns 1 if an existing file must not be replaced because another user may have put it there
   (place_foreign). Finds the file's folder by the descriptor PlaceWish.folder if there is one: the
   program may no longer be able to open the folder by name. */
static int isforeign (const Attempt *a, const struct stat *file) {
  struct stat folder;
  if (a->wish->folder <= 0)
    return place_foreign(a->path, file);
  return file->st_uid != geteuid() && fstat(a->wish->folder, &folder) == 0 &&
         place_distrusts(&folder, file);
}

static int refused (Attempt *a, int error, const char *why) {
  snprintf(a->why, a->size, "%s", why);
  return error;
}

/* Locks the file. Returns 0 if another descriptor still has a lock after LOCK_TRIES attempts; 1 if
   the file is locked now, or cannot be locked at all. */
static int lock (int fd) {
  const struct timespec pause = {0, LOCK_NS};
  int i;
  for (i = 0; i < LOCK_TRIES; i++) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      return 1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

/* Returns 1 for profiles and heap snapshots. */
static int place_isours (enum FileKind kind) {
  return kind == FILEKIND_PROFILE || kind == FILEKIND_HEAP;
}

static enum FileKind place_kindof (Where at, const struct stat *file) {
  struct stat now;
  enum FileKind kind = FILEKIND_UNKNOWN;
  int fd = descriptor_openat(at.folder, at.name, O_RDONLY | O_NONBLOCK, 0);
  if (fd < 0)
    return kind;
  if (fstat(fd, &now) == 0 && now.st_dev == file->st_dev &&
      now.st_ino == file->st_ino)
    kind = filekind_offile(fd);
  close(fd);
  return kind;
}

static int busy (Attempt *a) {
  a->place->busy = 1;
  return NEXT;
}

/* Empties the locked file if it may be replaced. If wish->later is 1, does not empty it, because
   the caller of place_open does. Returns 0, an errno, or NEXT: try the next numbered name. */
static int empty (Attempt *a, int fd) {
  const PlaceWish *wish = a->wish;
  enum FileKind kind;
  struct stat s;
  if (fstat(fd, &s) != 0)
    return errno;
  if (s.st_size == 0 && !wish->made)
    return 0;
  kind = place_kindof(whereis(wish->folder, a->path), &s);
  if (wish->replace == PLACE_ALL ||
      (wish->replace == PLACE_PROFILES && place_isours(kind)))
    return !wish->later && ftruncate(fd, 0) != 0 ? errno : 0;
  if (place_isours(kind) || wish->made) {
    a->place->kept = 1;
    return NEXT;
  }
  snprintf(a->why, a->size, "%s %s",
           filekind_name(kind) != NULL ? filekind_name(kind)
                                       : "a file of unknown kind",
           wish->refusal != NULL ? wish->refusal
           : "exists at this path and would be replaced; give another path, or the option "
             "overwrite");
  return EEXIST;
}

/* Decides whether the existing file 'fd' may be used; if so, locks and empties it. Returns 0 if it
   may be used, an errno, or NEXT: try the next numbered name. */
static int judge (Attempt *a, int fd) {
  int taken;
  struct stat s;
  if (fstat(fd, &s) != 0)
    return errno;
  taken = a->wish->taken != NULL && a->wish->taken(&s);
  if (!S_ISREG(s.st_mode))
    return taken ? refused(a, EBUSY, "another Lua state of this process writes its profile to this "
                                     "path; give each state its own path") : 0;
  if (isforeign(a, &s) || (s.st_uid != geteuid() && a->wish->made))
    return refused(a, EACCES, "another user owns the existing file; give another path");
  if (taken || !lock(fd))
    return busy(a);
  return empty(a, fd);
}

/* Opens the existing file a->path or, if that is a link, the link's target. Returns 0, an errno, or
   NEXT: try the next numbered name. */
static int openold (Attempt *a) {
  struct stat s;
  int error, flags = WRITING;
  Where at = whereis(a->wish->folder, a->path);
  if (fstatat(at.folder, at.name, &s, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  if (!S_ISLNK(s.st_mode) || a->wish->made)
    flags |= O_NOFOLLOW;
  else if (isforeign(a, &s))
    return refused(a, ELOOP, "the path is another user's symbolic link; give another path");
  else
    flags |= O_CREAT;  /* the link's target may not exist */
  a->place->fd = descriptor_openat(at.folder, at.name, flags, 0600);
  if (a->place->fd < 0)
    return errno;
  error = judge(a, a->place->fd);
  if (error != 0) {
    close(a->place->fd);
    a->place->fd = -1;
  }
  return error;
}

/* Opens or creates the file a->path. Returns 0, an errno, or NEXT: try the next numbered name. */
static int attempt (Attempt *a) {
  int error;
  Where at = whereis(a->wish->folder, a->path);
  a->place->fd = descriptor_openat(at.folder, at.name, NEW, 0600);
  if (a->place->fd >= 0) {
    a->place->created = 1;
    if (lock(a->place->fd))
      return 0;
    a->place->created = 0;
    close(a->place->fd);  /* another process has locked the new file first */
    a->place->fd = -1;
    return busy(a);
  }
  error = errno;
  if (error != EEXIST)
    return error;
  if (a->wish->made && a->wish->replace == PLACE_NONE) {
    a->place->kept = 1;
    return NEXT;
  }
  return openold(a);
}

int place_open (const PlaceWish *wish, Place *place, char *why, size_t size) {
  Attempt a = {wish, NULL, place, why, size};
  unsigned first = wish->number > 0 ? wish->number : 1;
  unsigned number;
  int error = NEXT;
  why[0] = '\0';
  memset(place, 0, sizeof(*place));
  place->fd = -1;
  place->folder = wish->folder;
  for (number = first; error == NEXT && number - first < PLACE_MOST; number++) {
    free(place->path);
    a.path = place->path = numbered(wish->path, number);
    if (place->path == NULL)
      return ENOMEM;
    error = attempt(&a);
  }
  if (error == NEXT)
    return refused(&a, EEXIST, "9,999 profiles with this name exist, the limit; remove some, or "
                               "give another path");
  return error;
}

/* Opens the file 'at' for writing if 'device' and 'inode' identify it, and locks it. Returns a
   descriptor, or -1. */
static int reopen (Where at, dev_t device, ino_t inode) {
  struct stat s;
  int fd;
  if (fstatat(at.folder, at.name, &s, 0) != 0 || s.st_dev != device || s.st_ino != inode)
    return -1;
  fd = descriptor_openat(at.folder, at.name, WRITING | O_NOCTTY, 0);
  if (fd < 0)
    return -1;
  if (fstat(fd, &s) == 0 && s.st_dev == device && s.st_ino == inode && lock(fd))
    return fd;
  close(fd);
  return -1;
}

int place_again (const char *path, int folder, dev_t device, ino_t inode) {
  int fd = reopen(whereis(0, path), device, inode);
  return fd >= 0 || folder <= 0 ? fd : reopen(whereis(folder, path), device, inode);
}

void place_undo (const Place *place) {
  struct stat s, there;
  Where at;
  if (!place->created || fstat(place->fd, &s) != 0 || s.st_size != 0)
    return;
  at = whereis(place->folder, place->path);
  if (fstatat(at.folder, at.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      there.st_dev == s.st_dev && there.st_ino == s.st_ino)
    unlinkat(at.folder, at.name, 0);
}
