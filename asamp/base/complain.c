/* SPDX-License-Identifier: MIT */
/* Prints lines for the user (complain.h). */
#include "complain.h"
#include "printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* Returns 1 if fd is closed or leads to /dev/null. */
static int isblind (int fd) {
  struct stat s, null;
  return fstat(fd, &s) != 0 ||
         (S_ISCHR(s.st_mode) && stat("/dev/null", &null) == 0 && s.st_rdev == null.st_rdev);
}

void complain (const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  printable(line);
  if (isblind(STDERR_FILENO))
    syslog(LOG_USER | LOG_WARNING, "profiler: %s", line);
  else
    fprintf(stderr, "profiler: %s\n", line);
}
