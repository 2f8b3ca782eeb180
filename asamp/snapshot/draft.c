/* SPDX-License-Identifier: MIT */
/* Creates, renames and removes the temporary file of a snapshot (draft.h). */
#define _GNU_SOURCE
#include "draft.h"
#include "temporary.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the absolute path of 'path' in a new block, and frees 'path'. Returns 'path' itself if it
   is NULL, if it is absolute, or if the current folder is unknown. Returns NULL if out of
   memory. */
static char *absolute (char *path) {
  char *folder, *to = NULL;
  if (path == NULL || path[0] == '/' || (folder = getcwd(NULL, 0)) == NULL)
    return path;
  if (asprintf(&to, "%s/%s", folder, path) < 0)
    to = NULL;
  free(folder);
  free(path);
  return to;
}

int draft_start (Draft *d, const Place *place) {
  int error;
  memset(d, 0, sizeof(*d));
  d->fd = place->fd;
  if (fstat(place->fd, &d->final) != 0)
    return errno;
  if (!S_ISREG(d->final.st_mode))
    return 0;
  errno = ENOMEM;
  d->target = absolute(temporary_target(place->path));
  if (d->target == NULL)
    return errno;
  error = temporary_create(d->target, &d->name, &d->fd);
  if (error == 0)
    error = temporary_imitate(d->fd, d->target);
  if (error != 0)
    draft_drop(d);
  return error;
}

int draft_end (Draft *d, int error) {
  if (d->name == NULL)
    return error;
  if (error == 0 && d->final.st_size > 0 && fsync(d->fd) != 0 && errno != EINVAL &&
      errno != ENOTSUP)
    error = errno;
  if (error == 0 && rename(d->name, d->target) != 0)
    error = errno;
  if (error != 0)
    draft_drop(d);
  return error;
}

int draft_drop (const Draft *d) {
  struct stat now;
  if (d->target != NULL && d->final.st_size == 0 && lstat(d->target, &now) == 0 &&
      now.st_size == 0 && now.st_dev == d->final.st_dev && now.st_ino == d->final.st_ino)
    unlink(d->target);
  return d->name != NULL && unlink(d->name) == 0;
}

void draft_free (Draft *d) {
  if (d->name != NULL)
    close(d->fd);
  free(d->name);
  free(d->target);
  d->name = d->target = NULL;
}
