/* SPDX-License-Identifier: MIT */
/* Prints lines for the user (complain.h). */
#define _GNU_SOURCE
#include "complain.h"
#include "descriptor.h"
#include "printable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#define LINE	2048		/* bytes of a message with its NUL */

/* Returns 1 if fd is closed or leads to /dev/null. */
static int isblind (int fd) {
  struct stat s, null;
  return fstat(fd, &s) != 0 ||
         (S_ISCHR(s.st_mode) && stat("/dev/null", &null) == 0 && s.st_rdev == null.st_rdev);
}

/* Like socket(2), but the descriptor is never 0, 1 or 2. */
static int newsocket (int type) {
  int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int to = fd >= 0 && fd <= STDERR_FILENO ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : fd;
  if (to != fd) close(fd);
  return to;
}

/* Sends a warning to the socket of the system's log, without waiting. syslog(3) could deadlock
   in a signal handler. */
static void tolog (const char *line) {
  static const int types[] = {SOCK_DGRAM, SOCK_STREAM};
  const struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
  char text[LINE + 64];
  int i, sent = 0;
  /* priority and tag (RFC 3164) */
  int n = snprintf(text, sizeof(text), "<%d>%.32s[%ld]: ", LOG_USER | LOG_WARNING,
                   program_invocation_short_name, (long)getpid());
  n += snprintf(text + n, sizeof(text) - (size_t)n, "profiler: %s", line);
  if (n >= (int)sizeof(text)) n = (int)sizeof(text) - 1;
  for (i = 0; i < 2 && !sent; i++) {
    int fd = newsocket(types[i]);
    if (fd < 0) return;
    if (connect(fd, (const struct sockaddr *)&log, sizeof(log)) == 0)
      sent = send(fd, text, (size_t)n + (types[i] == SOCK_STREAM), MSG_NOSIGNAL) > 0;
    close(fd);
  }
}

void complain (const char *format, ...) {
  const int e = errno;
  char line[LINE], text[LINE + 16];
  DescriptorSignals signals;
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  printable(line);
  descriptor_block(&signals);
  if (isblind(STDERR_FILENO)) tolog(line);
  else
    descriptor_write(STDERR_FILENO, text,
                     (size_t)snprintf(text, sizeof(text), "profiler: %s\n", line));
  descriptor_unblock(&signals);
  errno = e;
}
