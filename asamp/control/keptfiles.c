/* SPDX-License-Identifier: MIT */
/* Lists profile files and removes the oldest (keptfiles.h). */
#include "keptfiles.h"

#include <stdlib.h>
#include <string.h>

#include "process.h"

static struct Kept {
  char *path;
  /* Device and inode of the file when it was added: later, another file may have its name. */
  struct stat id;
} *files;			/* the listed files, oldest first */
static uint64_t nfiles;
static uint64_t most;		/* largest number of listed files; 0: no limit */

void keptfiles_setup (uint64_t n) {
  most = n;
}

void keptfiles_add (const char *path) {
  struct Kept *more, new;
  if (most == 0 || path == NULL ||
      (nfiles > 0 && strcmp(files[nfiles - 1].path, path) == 0) ||
      !process_identify(path, &new.id)) return;
  more = realloc(files, (nfiles + 1) * sizeof(*files));
  if (more == NULL) return;
  files = more;
  if ((new.path = strdup(path)) == NULL) return;
  files[nfiles++] = new;
  if (nfiles <= most) return;
  process_remove(files[0].path, &files[0].id);
  free(files[0].path);
  memmove(files, files + 1, --nfiles * sizeof(*files));
}

void keptfiles_current (void) {
  ProcessStats s;
  if (most == 0 || process_isring()) return;
  process_stats(&s);
  if (!s.temporary) keptfiles_add(s.path);
}

void keptfiles_forked (void) {
  files = NULL;  /* not freed, because another thread may have been changing it at the fork */
  nfiles = 0;
}
